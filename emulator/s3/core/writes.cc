#include "emulator/s3/core/writes.h"

#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/errors.h"
#include "emulator/s3/protocol/text.h"

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

std::string ObjectUrl(const Call& call) {
  const Exchange& exchange = call.exchange;
  std::string url = exchange.connection.tls ? "https://" : "http://";
  url += exchange.request.Find("host").value_or("s3.amazonaws.com");
  url += '/';
  if (!exchange.target.virtual_hosted) url.append(call.bucket().value).append("/");
  return url + PercentEncode(call.key().value);
}

Result<void> RefuseCopySource(const Call& call, std::string_view operation) {
  const auto source = call.Header("x-amz-copy-source");
  if (!source || operation == "CopyObject" || operation == "UploadPartCopy") return Ok();
  return InvalidArgument("You can only specify a copy source header for copy requests.",
                         "x-amz-copy-source", *source);
}

}  // namespace penstock::emulator::s3
