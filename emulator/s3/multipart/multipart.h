// What the multipart operations share (spec/protocol.md §2.11).
#ifndef PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_
#define PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr int kMaxParts = 10'000;

// `uploadId` as sent.
UploadId UploadIdParameter(const Call& call);
// The addressed upload, or NoSuchUpload + UploadId.
Result<store::UploadPtr> OpenUpload(Call& call);
Error NoSuchUpload(const UploadId& id);

// Names one version of one object; empty for none or a delete marker.
std::string VersionFingerprint(const store::ObjectRecord* current);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_MULTIPART_MULTIPART_H_
