#include "client/transfer/download/range_plan.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kAlwaysReadThrough = 32 << 10;
constexpr std::uint64_t kMostReadThrough = 1 << 20;
constexpr std::uint64_t kWorthOfAll = 64;  // one in so many bytes may be read for nothing

std::uint64_t EndOf(const RangePiece& piece) { return piece.begin + piece.memory.size(); }

// The first piece that reaches beyond `position`.
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
                         "a piece begins at byte " + std::to_string(piece.begin) + " and has " +
                             std::to_string(piece.memory.size()) +
                             " bytes; an object ends below 2^63");
    }
  }
  return Ok();
}

std::uint64_t GapWorthReading(std::span<const RangePiece> pieces) {
  std::vector<std::uint64_t> gaps;
  std::uint64_t wanted = 0;
  std::optional<std::uint64_t> end;
  for (const RangePiece& piece : pieces) {
    if (end && piece.begin > *end && piece.begin - *end <= kMostReadThrough)
      gaps.push_back(piece.begin - *end);
    end = EndOf(piece);
    wanted += piece.memory.size();
  }
  std::sort(gaps.begin(), gaps.end());
  std::uint64_t worth = kAlwaysReadThrough;
  std::uint64_t passed_over = 0;
  // Gaps of one size are read through all or none.
  for (std::size_t i = 0; i < gaps.size();) {
    std::size_t same = i;
    while (same < gaps.size() && gaps[same] == gaps[i]) passed_over += gaps[same++];
    if (passed_over > wanted / kWorthOfAll) break;
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
      // A request begins and ends with bytes that are wanted.
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

RangeLanding::RangeLanding(std::span<const RangePiece> pieces, ByteRange range) {
  std::vector<Stretch> stretches;
  std::uint64_t hole = 0;
  std::uint64_t at = range.begin;
  for (auto piece = FirstBeyond(pieces, at); at < range.end; ++piece) {
    if (piece->begin > at) {
      const std::uint64_t gap = piece->begin - at;
      stretches.push_back({{}, gap});
      gap > kHoleBytes ? hole += gap : staged_ += gap;
      at = piece->begin;
    }
    const MutableByteView bytes =
        piece->memory.subspan(at - piece->begin, std::min(EndOf(*piece), range.end) - at);
    if (bytes.size() < kDirectBytes) staged_ += bytes.size();
    stretches.push_back({bytes, bytes.size()});
    at += bytes.size();
  }
  if (staged_ > 0) staging_ = std::make_unique_for_overwrite<std::byte[]>(staged_);
  if (hole > 0) hole_ = std::make_unique_for_overwrite<std::byte[]>(kHoleBytes);
  staged_ = 0;
  for (const Stretch& stretch : stretches) {
    last_is_staged_ = Add(stretch);
  }
}

// Whether it was staged.
bool RangeLanding::Add(const Stretch& stretch) {
  if (stretch.wanted.size() >= kDirectBytes) {
    views_.push_back(stretch.wanted);
    return false;
  }
  if (!stretch.wanted.empty()) copies_.push_back({staged_, stretch.wanted});
  if (!stretch.wanted.empty() || stretch.size <= kHoleBytes) {
    Stage(stretch.size);
    return true;
  }
  for (std::uint64_t left = stretch.size; left > 0;) {
    const std::size_t size = std::min<std::uint64_t>(left, kHoleBytes);
    views_.emplace_back(hole_.get(), size);
    left -= size;
  }
  return false;
}

// What is staged one after the other is received at once.
void RangeLanding::Stage(std::uint64_t size) {
  std::byte* const at = staging_.get() + staged_;
  staged_ += size;
  if (last_is_staged_) {
    views_.back() = {views_.back().data(), views_.back().size() + size};
  } else {
    views_.emplace_back(at, size);
  }
}

void RangeLanding::Settle() {
  for (const Copy& copy : copies_)
    std::memcpy(copy.to.data(), staging_.get() + copy.from, copy.to.size());
}

}  // namespace penstock::transfer
