// Makes the record of an object from one body, for PutObject and PostObject.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/objects/metadata.h"

namespace penstock::emulator::s3 {

// `body` must have been received with the claim's algorithm, or with CRC64NVME if there is no
// claim. Moves values out of `settings`.
store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings,
                                    const ChecksumClaim& claim, ReceivedBody body);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_NEW_OBJECT_H_
