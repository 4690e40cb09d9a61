// The record of an object that one body makes: PutObject's and PostObject's.
#ifndef PENSTOCK_EMULATOR_API_NEW_OBJECT_H_
#define PENSTOCK_EMULATOR_API_NEW_OBJECT_H_

#include "emulator/api/body.h"
#include "emulator/api/checksums.h"
#include "emulator/api/metadata.h"

namespace penstock::emulator::api {

// `body` was received with the claim's algorithm, or with CRC64NVME where nothing was claimed (spec §2.12). What it needs
// of `settings` is moved out of them.
store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings, const ChecksumClaim& claim, ReceivedBody body);

}  // namespace penstock::emulator::api

#endif  // PENSTOCK_EMULATOR_API_NEW_OBJECT_H_
