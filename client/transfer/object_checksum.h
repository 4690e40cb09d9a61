// The CRC of a whole object from the CRCs of its pieces, each computed as its bytes arrive.
//
// Only full-object checksums: a COMPOSITE one is over the parts it was uploaded in, which a
// download does not know.
#ifndef PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
#define PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/crc/named_crc.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::transfer {

// What a whole object must amount to: the first of CRC64NVME, CRC32C and CRC32 that the answer
// names.
using ObjectChecksum = ExpectedCrc;
inline ObjectChecksum ChecksumOf(const ObjectMetadata& metadata) {
  return FindCrc(metadata.checksums);
}

// A piece of the object.
struct ChecksumPiece {
  ByteRange range;
  Crc crc = Crc::kNone;  // what `value` is; kNone: nothing was computed
  std::uint64_t value = 0;
};

// Ok when `pieces`, in any order and without gaps or overlaps, amount to `checksum`; kDataLoss
// naming both values when not. `object` holds the whole object: pieces without a value of the right
// kind are computed from it.
Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces,
                          ByteView object);

// The same for pieces that become known one by one, in any order.
class PiecewiseChecksum {
 public:
  PiecewiseChecksum(ObjectChecksum checksum, std::uint64_t object_bytes);

  // The bytes `range` of the object have the CRC `value`, of the checksum's kind. With the piece
  // that makes the object whole all are compared, as by VerifyPieces; Ok before, and where pieces
  // overlap or lie outside of the object.
  Result<void> Add(ByteRange range, std::uint64_t value);

 private:
  struct Run {
    std::uint64_t end = 0;
    std::uint64_t value = 0;
  };

  ObjectChecksum checksum_;
  std::uint64_t object_bytes_;
  std::map<std::uint64_t, Run> runs_;  // by where they begin; neighbours are one
  bool overlapping_ = false;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
