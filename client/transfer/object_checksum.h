// Computes the CRC of a whole object from the CRCs of its pieces, each computed as its bytes
// arrive.
//
// Only for full-object checksums. A COMPOSITE checksum covers the uploaded parts, which a download
// does not know.
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

// Returns the checksum that the whole object must have: the first of CRC64NVME, CRC32C and CRC32 in
// the response.
using ObjectChecksum = ExpectedCrc;
inline ObjectChecksum ChecksumOf(const ObjectMetadata& metadata) {
  return FindCrc(metadata.checksums);
}

// A piece of the object.
struct ChecksumPiece {
  ByteRange range;
  Crc crc = Crc::kNone;  // kind of `value`; kNone: not computed
  std::uint64_t value = 0;
};

// Returns ok if `pieces`, in any order and without gaps or overlaps, match `checksum`. Returns
// kDataLoss with both values if not. `object` contains the whole object: pieces without a value of
// the right kind are computed from it.
Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces,
                          ByteView object);

// Same for pieces that arrive one by one, in any order.
class PiecewiseChecksum {
 public:
  PiecewiseChecksum(ObjectChecksum checksum, std::uint64_t object_bytes);

  // Adds the CRC `value` of the bytes `range`. The piece that completes the object triggers the
  // comparison, as in VerifyPieces. Returns ok before that, and if pieces overlap or are outside
  // the object.
  Result<void> Add(ByteRange range, std::uint64_t value);

 private:
  struct Run {
    std::uint64_t end = 0;
    std::uint64_t value = 0;
  };

  ObjectChecksum checksum_;
  std::uint64_t object_bytes_;
  std::map<std::uint64_t, Run> runs_;  // by start; adjacent runs are merged
  bool overlapping_ = false;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
