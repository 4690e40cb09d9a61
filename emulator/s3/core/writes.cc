#include "emulator/s3/core/writes.h"

#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/errors.h"

namespace penstock::emulator::s3 {

void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome) {
  if (outcome.versioning != store::Versioning::kEnabled) return;
  call.response().Add("x-amz-version-id", outcome.object->version_id.value);
}

void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value) {
  if (const ChecksumInfo* info = FindChecksum(algorithm); info != nullptr && !value.empty()) {
    call.response().Add(std::string(info->header), std::string(value));
  }
}

Result<void> RefuseCopySource(const Call& call, std::string_view operation) {
  const auto source = call.Header("x-amz-copy-source");
  if (!source || operation == "CopyObject" || operation == "UploadPartCopy") return Ok();
  return InvalidArgument("You can only specify a copy source header for copy requests.",
                         "x-amz-copy-source", *source);
}

}  // namespace penstock::emulator::s3
