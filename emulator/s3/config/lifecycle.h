// The response headers that show what lifecycle rules will do: the expiration of objects and the
// abort of uploads.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_

#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// Adds x-amz-expiration if a rule of the addressed bucket applies to `object`, its current version.
// Not for requests with a version id.
void AddExpirationHeader(Call& call, const store::ObjectRecord& object);
// Adds x-amz-abort-date and x-amz-abort-rule-id if a rule applies to the upload.
void AddAbortHeaders(Call& call, const store::UploadRecord& upload);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_
