// Helpers that the multipart operations share.
#ifndef PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_
#define PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr int kMaxParts = 10'000;

// Returns the parameter `uploadId` as sent.
UploadId UploadIdParameter(const Call& call);
// Returns the addressed upload, or NoSuchUpload with UploadId.
Result<store::UploadPtr> OpenUpload(Call& call);
Error NoSuchUpload(const UploadId& id);

// Returns a string that identifies the version of an object; empty for none or a delete marker.
std::string VersionFingerprint(const store::ObjectRecord* current);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_
