// The CRC of a whole object from the CRCs of its pieces, each computed as its bytes arrive.
//
// Only full-object checksums: a COMPOSITE one is over the parts it was uploaded in, which a download does not know.
#ifndef PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
#define PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_

#include <cstdint>
#include <vector>

#include "base/named_crc.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::transfer {

// What a whole object must amount to: the first of CRC64NVME, CRC32C and CRC32 that the answer names.
using ObjectChecksum = ExpectedCrc;
inline ObjectChecksum ChecksumOf(const ObjectMetadata& metadata) { return FindCrc(metadata.checksums); }

// A piece of the object.
struct ChecksumPiece {
  ByteRange range;
  Crc crc = Crc::kNone;  // what `value` is; kNone: nothing was computed
  std::uint64_t value = 0;
};

// Ok when `pieces`, in any order and without gaps or overlaps, amount to `checksum`; kDataLoss naming both values when
// not. `object` holds the whole object: pieces without a value of the right kind are computed from it.
Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces, ByteView object);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
