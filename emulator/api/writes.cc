#include "emulator/api/writes.h"

#include "emulator/api/checksums.h"
#include "emulator/api/errors.h"

namespace penstock::emulator::api {

void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome) {
  if (outcome.versioning != store::Versioning::kEnabled) return;
  call.response().Add("x-amz-version-id", outcome.object->version_id.value);
}

void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value) {
  if (const ChecksumInfo* info = FindChecksum(algorithm); info != nullptr && !value.empty()) {
    call.response().Add(std::string(info->header), std::string(value));
  }
}

Result<void> RefuseObjectLock(Call& call, std::string_view operation) {
  constexpr std::string_view kBypass = "x-amz-bypass-governance-retention";
  constexpr std::string_view kMode = "x-amz-object-lock-mode";
  const auto bypass = call.Header(kBypass);
  const bool locks = operation == "PutObject" || operation == "CopyObject" || operation == "CreateMultipartUpload";
  const bool deletes = operation == "DeleteObject" || operation == "DeleteObjects";
  if (bypass ? !deletes : !locks) return NotImplementedHeader(bypass ? kBypass : kMode);
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  for (const auto& [sub_resource, document] : bucket->configuration) {
    if (sub_resource == "object-lock" && !document.empty()) return NotImplementedHeader(bypass ? kBypass : kMode);
  }
  if (!bypass) return InvalidRequest("Bucket is missing Object Lock Configuration");
  return InvalidArgument("x-amz-bypass-governance-retention is only applicable to Object Lock enabled buckets.", kBypass,
                         *bypass);
}

Result<void> RefuseCopySource(const Call& call, std::string_view operation) {
  const auto source = call.Header("x-amz-copy-source");
  if (!source || operation == "CopyObject" || operation == "UploadPartCopy") return Ok();
  return InvalidArgument("You can only specify a copy source header for copy requests.", "x-amz-copy-source", *source);
}

}  // namespace penstock::emulator::api
