#include "client/checkpoint/load/payload_crc.h"

#include <algorithm>

#include "base/crc/crc.h"

namespace penstock::checkpoint {

void PayloadCrc::Add(std::uint64_t begin, ByteView bytes) {
  const std::uint64_t end = begin + bytes.size();
  for (std::uint64_t at = begin; at < end;) {
    const auto next = pieces_.upper_bound(at);
    const auto before = next == pieces_.begin() ? pieces_.end() : std::prev(next);
    if (before != pieces_.end() && before->second.end > at) {
      at = before->second.end;
      continue;
    }
    const std::uint64_t stop = next == pieces_.end() ? end : std::min(end, next->first);
    const ByteView fresh = bytes.subspan(at - begin, stop - at);
    if (before != pieces_.end() && before->second.end == at) {
      before->second = {stop, Crc32(fresh, before->second.crc)};
    } else {
      pieces_.emplace_hint(next, at, Piece{stop, Crc32(fresh)});
    }
    at = stop;
  }
}

std::optional<std::uint32_t> PayloadCrc::Of(std::uint64_t size) const {
  std::uint64_t end = 0;
  std::uint32_t crc = 0;
  for (const auto& [begin, piece] : pieces_) {
    if (begin != end) return std::nullopt;
    crc = CombineCrc32(crc, piece.crc, piece.end - begin);
    end = piece.end;
  }
  return end == size ? std::optional(crc) : std::nullopt;
}

}  // namespace penstock::checkpoint
