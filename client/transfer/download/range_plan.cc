#include "client/transfer/download/range_plan.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kAlwaysReadThrough = 32 << 10;
constexpr std::uint64_t kMaxReadThrough = 1 << 20;
// At most one byte in this many may be read without being needed.
constexpr std::uint64_t kUsefulToWastedRatio = 64;

std::uint64_t EndOf(const RangePiece& piece) { return piece.begin + piece.memory.size(); }

// Returns the first piece that ends after `position`.
std::span<const RangePiece>::iterator FirstBeyond(std::span<const RangePiece> pieces,
                                                  std::uint64_t position) {
  return std::upper_bound(
      pieces.begin(), pieces.end(), position,
      [](std::uint64_t at, const RangePiece& piece) { return at < EndOf(piece); });
}

}  // namespace

Result<void> CheckPieces(std::span<const RangePiece> pieces) {
  for (const RangePiece& piece : pieces) {
    if (piece.begin > INT64_MAX - piece.memory.size()) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "invalid piece: " + std::to_string(piece.memory.size()) +
                             " bytes at offset " + std::to_string(piece.begin) +
                             "; the maximum offset is 2^63 - 1");
    }
  }
  return Ok();
}

std::uint64_t GapWorthReading(std::span<const RangePiece> pieces) {
  std::vector<std::uint64_t> gaps;
  std::uint64_t wanted = 0;
  std::optional<std::uint64_t> end;
  for (const RangePiece& piece : pieces) {
    if (end && piece.begin > *end && piece.begin - *end <= kMaxReadThrough)
      gaps.push_back(piece.begin - *end);
    end = EndOf(piece);
    wanted += piece.memory.size();
  }
  std::sort(gaps.begin(), gaps.end());
  std::uint64_t worth = kAlwaysReadThrough;
  std::uint64_t passed_over = 0;
  // Gaps of the same size are read through all or none.
  for (std::size_t i = 0; i < gaps.size();) {
    std::size_t same = i;
    while (same < gaps.size() && gaps[same] == gaps[i]) passed_over += gaps[same++];
    if (passed_over > wanted / kUsefulToWastedRatio) break;
    worth = std::max(worth, gaps[i]);
    i = same;
  }
  return worth;
}

std::vector<ByteRange> PlanRequests(std::span<const RangePiece> pieces, std::uint64_t max_gap_bytes,
                                    std::uint64_t max_request_bytes) {
  std::vector<ByteRange> requests;
  std::optional<ByteRange> open;
  const auto close = [&] {
    if (!open) return;
    for (std::uint64_t at = open->begin; at < open->end;) {
      // A request starts and ends with bytes of a piece.
      const auto piece = FirstBeyond(pieces, at);
      at = std::max(at, piece->begin);
      std::uint64_t end = open->end - at <= max_request_bytes ? open->end : at + max_request_bytes;
      const auto last = FirstBeyond(pieces, end - 1);
      if (last->begin >= end) end = EndOf(*std::prev(last));
      requests.push_back({at, end});
      at = end;
    }
  };
  for (const RangePiece& piece : pieces) {
    if (open && piece.begin - open->end <= max_gap_bytes) {
      open->end = EndOf(piece);
      continue;
    }
    close();
    open = ByteRange{piece.begin, EndOf(piece)};
  }
  close();
  return requests;
}

RangeBuffer::RangeBuffer(std::span<const RangePiece> pieces, ByteRange range) {
  std::vector<Segment> segments;
  std::uint64_t unstaged_gaps = 0;
  std::uint64_t at = range.begin;
  for (auto piece = FirstBeyond(pieces, at); at < range.end; ++piece) {
    if (piece->begin > at) {
      const std::uint64_t gap = piece->begin - at;
      segments.push_back({{}, gap});
      gap > kGapBufferBytes ? unstaged_gaps += gap : staged_ += gap;
      at = piece->begin;
    }
    const MutableByteView bytes =
        piece->memory.subspan(at - piece->begin, std::min(EndOf(*piece), range.end) - at);
    if (bytes.size() < kDirectBytes) staged_ += bytes.size();
    segments.push_back({bytes, bytes.size()});
    at += bytes.size();
  }
  if (staged_ > 0) staging_ = std::make_unique_for_overwrite<std::byte[]>(staged_);
  if (unstaged_gaps > 0) gap_buffer_ = std::make_unique_for_overwrite<std::byte[]>(kGapBufferBytes);
  staged_ = 0;
  for (const Segment& segment : segments) {
    last_is_staged_ = Add(segment);
  }
}

// Returns whether the segment was staged.
bool RangeBuffer::Add(const Segment& segment) {
  if (segment.wanted.size() >= kDirectBytes) {
    views_.push_back(segment.wanted);
    return false;
  }
  if (!segment.wanted.empty()) copies_.push_back({staged_, segment.wanted});
  if (!segment.wanted.empty() || segment.size <= kGapBufferBytes) {
    Stage(segment.size);
    return true;
  }
  for (std::uint64_t left = segment.size; left > 0;) {
    const std::size_t size = std::min<std::uint64_t>(left, kGapBufferBytes);
    views_.emplace_back(gap_buffer_.get(), size);
    left -= size;
  }
  return false;
}

// Adjacent staged bytes share one view.
void RangeBuffer::Stage(std::uint64_t size) {
  std::byte* const at = staging_.get() + staged_;
  staged_ += size;
  if (last_is_staged_) {
    views_.back() = {views_.back().data(), views_.back().size() + size};
  } else {
    views_.emplace_back(at, size);
  }
}

void RangeBuffer::CopyStaged() {
  for (const Copy& copy : copies_)
    std::memcpy(copy.to.data(), staging_.get() + copy.from, copy.to.size());
}

}  // namespace penstock::transfer
