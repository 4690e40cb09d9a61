// The record of an object that one body makes: PutObject's and PostObject's.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/objects/metadata.h"

namespace penstock::emulator::s3 {

// `body` was received with the claim's algorithm, or with CRC64NVME where nothing was claimed (spec
// §2.12). What it needs of `settings` is moved out of them.
store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings,
                                    const ChecksumClaim& claim, ReceivedBody body);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_
