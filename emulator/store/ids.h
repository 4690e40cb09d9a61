// Version ids and upload ids.
#ifndef PENSTOCK_EMULATOR_STORE_IDS_H_
#define PENSTOCK_EMULATOR_STORE_IDS_H_

#include <cstdint>
#include <optional>

#include "penstock/base/types.h"

namespace penstock::emulator::store {

// 32 characters of [A-Za-z0-9._]: the store's sequence number, so that a version listing can resume after a version
// that was deleted meanwhile, and 126 random bits.
VersionId MakeVersionId(std::int64_t sequence);
// The sequence number inside; nullopt when `id` was not made by MakeVersionId.
std::optional<std::int64_t> SequenceOf(const VersionId& id);

// 128 random characters of [A-Za-z0-9._]: knowing one upload tells nothing about another.
UploadId MakeUploadId();

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_IDS_H_
