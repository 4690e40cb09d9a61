#include "client/transfer/object_checksum.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::transfer {

std::uint64_t CombinePieces(Crc crc, std::vector<ChecksumPiece> pieces, std::uint64_t begin,
                            ByteView bytes) {
  std::sort(pieces.begin(), pieces.end(), [](const ChecksumPiece& a, const ChecksumPiece& b) {
    return a.range.begin < b.range.begin;
  });
  std::uint64_t value = 0;
  std::uint64_t end = begin;
  for (ChecksumPiece& piece : pieces) {
    PENSTOCK_CHECK(piece.range.begin == end && piece.range.end <= begin + bytes.size());
    if (piece.crc != crc) {
      piece.value = UpdateCrc(crc, bytes.subspan(piece.range.begin - begin, piece.range.size()), 0);
    }
    value = CombineCrc(crc, value, piece.value, piece.range.size());
    end = piece.range.end;
  }
  PENSTOCK_CHECK(end == begin + bytes.size());
  return value;
}

Error ErrorOfSecondRead(Error error, const Error& first) {
  if (error.kind == ErrorKind::kDataLoss) {
    error.message += " (read twice, in several ranges)";
  } else {
    error.message += " (second read, since of the first one " + first.message + ")";
  }
  return error;
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

std::optional<PiecewiseChecksum::Prefix> PiecewiseChecksum::prefix() const {
  if (overlapping_) return std::nullopt;
  if (runs_.empty() || runs_.begin()->first > 0) return Prefix{};
  return Prefix{runs_.begin()->second.end, runs_.begin()->second.value};
}

}  // namespace penstock::transfer
