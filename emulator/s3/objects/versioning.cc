// GetBucketVersioning and PutBucketVersioning.
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {

namespace {

// Enabling MFA Delete requires the code of an MFA device, and the emulator has no devices. The
// error without a code was recorded against Amazon S3.
Error RefuseMfaDelete(const Call& call) {
  if (!call.Header("x-amz-mfa"))
    return MakeError("AccessDenied", {}, "Mfa Authentication must be used for this request");
  return MakeError(
      "AccessDenied", {},
      "The MFA device in x-amz-mfa is unknown: the emulator has no MFA devices, so MfaDelete "
      "cannot be enabled");
}

}  // namespace

Result<void> GetBucketVersioning(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  XmlWriter xml;
  if (bucket->versioning == store::Versioning::kNever) {
    xml.Empty("VersioningConfiguration", kXmlNamespace);
  } else {
    xml.Open("VersioningConfiguration", kXmlNamespace);
    xml.Element("Status",
                bucket->versioning == store::Versioning::kEnabled ? "Enabled" : "Suspended");
    xml.Close("VersioningConfiguration");
  }
  call.RespondXml(xml.Take());
  return Ok();
}

Result<void> PutBucketVersioning(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  PENSTOCK_ASSIGN(const Element document, ReadBySchema(text, kVersioningSchema));
  const std::string_view status = document.TextOf("Status");
  if (status.empty()) return MakeError("IllegalVersioningConfigurationException");
  if (document.TextOf("MfaDelete") == "Enabled") return RefuseMfaDelete(call);
  if (status == "Enabled")
    return call.store.SetVersioning(bucket->name, store::Versioning::kEnabled);
  if (HasObjectLock(*bucket)) {
    return MakeError("InvalidBucketState", {},
                     "An Object Lock configuration is present on this bucket, so the versioning "
                     "state cannot be changed.");
  }
  // The message was recorded against Amazon S3:
  // https://github.com/hashicorp/terraform/issues/22491
  if (FindConfiguration(*bucket, "replication") != nullptr) {
    return MakeError("InvalidBucketState", {},
                     "A replication configuration is present on this bucket, so you cannot change "
                     "the versioning state. To change the versioning state, first delete the "
                     "replication configuration.");
  }
  return call.store.SetVersioning(bucket->name, store::Versioning::kSuspended);
}

}  // namespace penstock::emulator::s3
