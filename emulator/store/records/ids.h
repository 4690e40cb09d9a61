// Version ids and upload ids.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_IDS_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_IDS_H_

#include <cstdint>
#include <optional>

#include "penstock/base/types.h"

namespace penstock::emulator::store {

// 32 characters of [A-Za-z0-9._]: the store's sequence number, 102 random bits and a 24-bit
// checksum. The number allows a version listing to resume after a version that was deleted in the
// meantime.
VersionId MakeVersionId(std::int64_t sequence);
// Whether MakeVersionId created the id. S3 distinguishes invalid ids from ids of deleted versions.
// Stores from before October 2026 contain ids without a checksum, so look up the id first.
bool IsIssued(const VersionId& id);
// The sequence number in the id; nullopt if MakeVersionId did not create `id`.
std::optional<std::int64_t> SequenceOf(const VersionId& id);

// 128 characters of [A-Za-z0-9._]: the store's sequence number, 678 random bits and a 24-bit
// checksum. The number allows a listing to resume after an upload that was aborted or completed in
// the meantime.
UploadId MakeUploadId(std::int64_t sequence);
// The sequence number in the id; nullopt if MakeUploadId did not create `id`, as in stores from
// before December 2026.
std::optional<std::int64_t> SequenceOf(const UploadId& id);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_IDS_H_
