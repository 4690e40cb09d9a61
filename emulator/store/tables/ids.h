// Version ids and upload ids.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_IDS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_IDS_H_

#include <cstdint>
#include <optional>

#include "penstock/base/types.h"

namespace penstock::emulator::store {

// 32 characters of [A-Za-z0-9._]: the store's sequence number, so that a version listing can resume
// after a version that was deleted meanwhile, 102 random bits and 24 bits of check.
VersionId MakeVersionId(std::int64_t sequence);
// False for ids that no MakeVersionId made, though they may look like it: S3 tells them from ids
// that are no more. Stores of before October 2026 hold ids without a check: look them up first.
bool IsIssued(const VersionId& id);
// The sequence number inside; nullopt when `id` was not made by MakeVersionId.
std::optional<std::int64_t> SequenceOf(const VersionId& id);

// 128 characters of [A-Za-z0-9._]: the store's sequence number, so that a listing can resume after
// an upload that was aborted or completed meanwhile, 678 random bits and 24 bits of check.
UploadId MakeUploadId(std::int64_t sequence);
// The sequence number inside; nullopt when no MakeUploadId(sequence) made `id`, as in stores of
// before December 2026.
std::optional<std::int64_t> SequenceOf(const UploadId& id);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_IDS_H_
