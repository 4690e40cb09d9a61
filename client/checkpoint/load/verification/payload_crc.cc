#include "client/checkpoint/load/verification/payload_crc.h"

#include <algorithm>
#include <iterator>

#include "base/crc/crc.h"
#include "client/checkpoint/piece_crcs.h"

namespace penstock::checkpoint {

PayloadCrc::PayloadCrc(std::uint64_t payload_bytes, std::uint64_t piece_bytes)
    : payload_bytes_(payload_bytes),
      piece_bytes_(piece_bytes),
      expected_(PieceCount(payload_bytes, piece_bytes)) {}

std::uint64_t PayloadCrc::EndOf(std::size_t piece) const {
  return std::min(payload_bytes_, (piece + 1) * piece_bytes_);
}

std::uint64_t PayloadCrc::BytesOf(std::size_t piece) const {
  return EndOf(piece) - piece * piece_bytes_;
}

void PayloadCrc::Expect(std::uint64_t begin, std::uint64_t bytes) {
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::size_t piece = begin / piece_bytes_;
    const std::uint64_t stop = std::min(end, EndOf(piece));
    expected_[piece] += stop - begin;
    begin = stop;
  }
}

bool PayloadCrc::may_complete() const {
  for (std::size_t piece = 0; piece < expected_.size(); ++piece) {
    if (IsExpected(piece)) return true;
  }
  return false;
}

bool PayloadCrc::expects_pieces_once() const {
  for (std::size_t piece = 0; piece < expected_.size(); ++piece) {
    if (expected_[piece] > 0 && expected_[piece] != BytesOf(piece)) return false;
  }
  return true;
}

bool PayloadCrc::IsExpected(std::size_t piece) const { return expected_[piece] >= BytesOf(piece); }

void PayloadCrc::Add(std::uint64_t begin, ByteView bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = begin / piece_bytes_;
    const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), EndOf(piece) - begin);
    if (IsExpected(piece)) AddToPiece(begin, bytes.first(count));
    begin += count;
    bytes = bytes.subspan(count);
  }
}

void PayloadCrc::AddToPiece(std::uint64_t begin, ByteView bytes) {
  const std::uint64_t end = begin + bytes.size();
  for (std::uint64_t at = begin; at < end;) {
    const auto next = segments_.upper_bound(at);
    const auto before = next == segments_.begin() ? segments_.end() : std::prev(next);
    if (before != segments_.end() && before->second.end > at) {
      at = before->second.end;
      continue;
    }
    const std::uint64_t stop = next == segments_.end() ? end : std::min(end, next->first);
    const ByteView fresh = bytes.subspan(at - begin, stop - at);
    const bool continues = before != segments_.end() && before->second.end == at;
    if (continues && at % piece_bytes_ != 0) {
      before->second = {stop, Crc32(fresh, before->second.crc)};
    } else {
      segments_.emplace_hint(next, at, Segment{stop, Crc32(fresh)});
    }
    at = stop;
  }
}

std::optional<std::uint32_t> PayloadCrc::OfPiece(std::size_t index) const {
  std::uint64_t at = index * piece_bytes_;
  const std::uint64_t end = EndOf(index);
  std::uint32_t crc = 0;
  for (auto each = segments_.find(at); at < end; ++each) {
    if (each == segments_.end() || each->first != at) return std::nullopt;
    const auto& [stop, its_crc] = each->second;
    crc = crc == 0 ? its_crc : CombineCrc32(crc, its_crc, stop - at);  // equal if crc is 0
    at = stop;
  }
  return crc;
}

std::optional<std::uint32_t> PayloadCrc::OfAll() const {
  std::uint32_t crc = 0;
  for (std::size_t piece = 0; piece < expected_.size(); ++piece) {
    const auto found = OfPiece(piece);
    if (!found) return std::nullopt;
    crc = piece == 0 ? *found : CombineCrc32(crc, *found, BytesOf(piece));
  }
  return crc;
}

}  // namespace penstock::checkpoint
