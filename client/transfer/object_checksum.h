// Computes the CRC of a whole object from the CRCs of its pieces, each computed as its bytes
// arrive.
//
// Only for full-object checksums. A COMPOSITE checksum covers the uploaded parts, which a download
// does not know.
#ifndef PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_
#define PENSTOCK_CLIENT_TRANSFER_OBJECT_CHECKSUM_H_

#include <cstdint>
#include <map>
#include <optional>
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

// Returns the CRC of `bytes`, which are at offset `begin` of the object, from `pieces`, which are
// in any order and have no gaps or overlaps. Pieces without a value of this kind are computed.
std::uint64_t CombinePieces(Crc crc, std::vector<ChecksumPiece> pieces, std::uint64_t begin,
                            ByteView bytes);

// Returns the error of the second read of an object whose bytes differed from its checksum, which
// `first` describes.
Error ErrorOfSecondRead(Error error, const Error& first);

// Compares the pieces of an object, which arrive one by one in any order, with its checksum.
class PiecewiseChecksum {
 public:
  // The first bytes of an object.
  struct Prefix {
    std::uint64_t bytes = 0;
    std::uint64_t crc = 0;
  };

  PiecewiseChecksum(ObjectChecksum checksum, std::uint64_t object_bytes);

  // Adds the CRC `value` of the bytes `range`. The piece that completes the object triggers the
  // comparison, which returns kDataLoss with both values if they differ. Returns ok before that,
  // and if pieces overlap or are outside the object.
  Result<void> Add(ByteRange range, std::uint64_t value);

  // Returns the bytes from the start of the object that were added, up to the first gap. Nullopt if
  // pieces overlap.
  std::optional<Prefix> prefix() const;

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
