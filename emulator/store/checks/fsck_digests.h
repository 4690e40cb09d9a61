// Whether bytes are those that a record's ETag and checksums were made of. For fsck alone.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_

#include <functional>
#include <string>
#include <vector>

#include "emulator/store/store.h"

namespace penstock::emulator::store {

// Calls the function with `range` of the record's bytes, piece by piece. An Error ends the check of
// the record.
using RangeReader =
    std::function<Result<void>(ByteRange range, const std::function<void(ByteView)>& take)>;

// One sentence for each ETag or checksum of the object or its parts that its bytes do not have;
// empty: all is well. What cannot be computed from the bytes alone (an unknown algorithm, the ETag
// of an encrypted object) is left out. `etags`: directory buckets' are opaque.
enum class ETags { kDigests, kOpaque };
Result<std::vector<std::string>> CompareDigests(const ObjectRecord& record, const RangeReader& read,
                                                ETags etags = ETags::kDigests);
// The same for one part of an unfinished upload, whose bytes are the whole range. `algorithm`: of
// the upload.
Result<std::vector<std::string>> ComparePartDigests(const PartRecord& part,
                                                    const std::string& algorithm,
                                                    const RangeReader& read);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_
