#include "client/transfer/object_checksum.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::transfer {

Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces,
                          ByteView object) {
  if (checksum.crc == Crc::kNone) return Ok();
  std::sort(pieces.begin(), pieces.end(), [](const ChecksumPiece& a, const ChecksumPiece& b) {
    return a.range.begin < b.range.begin;
  });
  std::uint64_t value = 0;
  std::uint64_t end = 0;
  for (ChecksumPiece& piece : pieces) {
    PENSTOCK_CHECK(piece.range.begin == end && piece.range.end <= object.size());
    if (piece.crc != checksum.crc) {
      piece.value =
          UpdateCrc(checksum.crc, object.subspan(piece.range.begin, piece.range.size()), 0);
    }
    value = CombineCrc(checksum.crc, value, piece.value, piece.range.size());
    end = piece.range.end;
  }
  PENSTOCK_CHECK(end == object.size());
  return CompareCrc(checksum, value);
}

PiecewiseChecksum::PiecewiseChecksum(ObjectChecksum checksum, std::uint64_t object_bytes)
    : checksum_(std::move(checksum)), object_bytes_(object_bytes) {}

Result<void> PiecewiseChecksum::Add(ByteRange range, std::uint64_t value) {
  const auto after = runs_.lower_bound(range.begin);
  const auto before = after == runs_.begin() ? runs_.end() : std::prev(after);
  overlapping_ = overlapping_ || range.end <= range.begin || range.end > object_bytes_ ||
                 (after != runs_.end() && after->first < range.end) ||
                 (before != runs_.end() && before->second.end > range.begin);
  if (overlapping_) return Ok();
  auto run = before;
  if (before != runs_.end() && before->second.end == range.begin) {
    before->second = {range.end,
                      CombineCrc(checksum_.crc, before->second.value, value, range.size())};
  } else {
    run = runs_.emplace_hint(after, range.begin, Run{range.end, value});
  }
  if (after != runs_.end() && after->first == range.end) {
    const Run& next = after->second;
    run->second = {next.end, CombineCrc(checksum_.crc, run->second.value, next.value,
                                        next.end - after->first)};
    runs_.erase(after);
  }
  if (run->first > 0 || run->second.end < object_bytes_) return Ok();
  return CompareCrc(checksum_, run->second.value);
}

}  // namespace penstock::transfer
