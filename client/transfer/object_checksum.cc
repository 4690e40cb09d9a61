#include "client/transfer/object_checksum.h"

#include <algorithm>

namespace penstock::transfer {

Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces, ByteView object) {
  if (checksum.crc == Crc::kNone) return Ok();
  std::sort(pieces.begin(), pieces.end(),
            [](const ChecksumPiece& a, const ChecksumPiece& b) { return a.range.begin < b.range.begin; });
  std::uint64_t value = 0;
  std::uint64_t end = 0;
  for (ChecksumPiece& piece : pieces) {
    PENSTOCK_CHECK(piece.range.begin == end && piece.range.end <= object.size());
    if (piece.crc != checksum.crc) {
      piece.value = UpdateCrc(checksum.crc, object.subspan(piece.range.begin, piece.range.size()), 0);
    }
    value = CombineCrc(checksum.crc, value, piece.value, piece.range.size());
    end = piece.range.end;
  }
  PENSTOCK_CHECK(end == object.size());
  return CompareCrc(checksum, value);
}

}  // namespace penstock::transfer
