// Compares the bytes of objects with the ETags and checksums of their records. Used by fsck only.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_

#include <functional>
#include <string>
#include <vector>

#include "emulator/store/records/records.h"

namespace penstock::emulator::store {

// Calls `take` with the bytes of `range` of the record, piece by piece. An Error ends the check of
// the record.
using ReadRange =
    std::function<Result<void>(ByteRange range, const std::function<void(ByteView)>& take)>;

// Whether the ETags of a bucket are digests. kOpaque: those of a directory bucket are not.
enum class ETags { kDigests, kOpaque };

// Returns one sentence for each ETag or checksum of the object or its parts that does not match the
// bytes. Values that cannot be computed from the bytes alone are skipped: unknown algorithms and
// the ETags of encrypted objects.
Result<std::vector<std::string>> CompareDigests(const ObjectRecord& record, const ReadRange& read,
                                                ETags etags = ETags::kDigests);
// The same for one part of an open upload. `read` reads ranges of the part. `algorithm`: the
// checksum algorithm of the upload.
Result<std::vector<std::string>> ComparePartDigests(const PartRecord& part,
                                                    const std::string& algorithm,
                                                    const ReadRange& read);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_DIGESTS_H_
