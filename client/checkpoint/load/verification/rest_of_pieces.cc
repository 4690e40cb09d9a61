#include "client/checkpoint/load/verification/rest_of_pieces.h"

#include <algorithm>

namespace penstock::checkpoint {
namespace {

// Adds the parts of the gap [begin, end) between wanted bytes that are in pieces with wanted bytes.
void AddEnds(std::vector<ByteRange>& gaps, ByteRange gap, std::uint64_t payload_bytes,
             std::uint64_t piece_bytes) {
  if (gap.begin >= gap.end) return;
  const std::uint64_t first = gap.begin - gap.begin % piece_bytes;  // piece in which the gap begins
  const std::uint64_t last = (gap.end - 1) - (gap.end - 1) % piece_bytes;
  const auto end_of = [&](std::uint64_t piece) {
    return std::min(payload_bytes, piece + piece_bytes);
  };
  const bool starts_within = gap.begin > first;
  const bool ends_within = gap.end < end_of(last);
  if (first == last) {
    if (starts_within || ends_within) gaps.push_back(gap);
    return;
  }
  if (starts_within) gaps.push_back({gap.begin, end_of(first)});
  if (ends_within) gaps.push_back({last, gap.end});
}

}  // namespace

std::vector<ByteRange> RestOfPieces(std::vector<ByteRange> wanted, std::uint64_t payload_bytes,
                                    std::uint64_t piece_bytes, std::uint64_t& budget) {
  std::erase_if(wanted, [](const ByteRange& range) { return range.begin >= range.end; });
  std::sort(wanted.begin(), wanted.end(),
            [](const ByteRange& one, const ByteRange& other) { return one.begin < other.begin; });
  std::vector<ByteRange> gaps;
  std::uint64_t reached = 0;
  for (const ByteRange& range : wanted) {
    AddEnds(gaps, {reached, range.begin}, payload_bytes, piece_bytes);
    reached = std::max(reached, range.end);
  }
  if (!wanted.empty()) AddEnds(gaps, {reached, payload_bytes}, payload_bytes, piece_bytes);
  std::vector<ByteRange> rest;
  for (auto first = gaps.begin(); first != gaps.end();) {
    std::uint64_t bytes = 0;
    auto after = first;
    for (; after != gaps.end() && after->begin / piece_bytes == first->begin / piece_bytes; ++after)
      bytes += after->end - after->begin;
    if (bytes <= budget) {
      budget -= bytes;
      rest.insert(rest.end(), first, after);
    }
    first = after;
  }
  return rest;
}

}  // namespace penstock::checkpoint
