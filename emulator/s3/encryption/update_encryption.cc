// UpdateObjectEncryption: changes the encryption of an existing object (Amazon S3 API Reference,
// "UpdateObjectEncryption"). No bytes are encrypted; see encryption.h.
#include <algorithm>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/encryption/encryption.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

// Detects signature version 2 by its parameters, because `presigned` covers both versions.
bool SignedByVersionTwo(const Call& call) {
  return call.exchange.request.Find("authorization").value_or("").starts_with("AWS ") ||
         call.Query("AWSAccessKeyId");
}

Result<Encryption> RequestedEncryption(Call& call, const store::BucketRecord& bucket) {
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  PENSTOCK_ASSIGN(const Element document, ReadBySchema(text, kObjectEncryptionSchema));
  const Element* kms = document.Find("SSE-KMS");
  if (kms == nullptr) {
    return InvalidRequest(
        "Requests that modify an object encryption configuration require a valid new encryption "
        "type. Valid values are "
        "SSEKMS. Modify the request to specify SSE-KMS for the updated encryption type, and then "
        "try again.");
  }
  const std::string_view arn = kms->TextOf("KMSKeyArn");
  if (arn.empty()) {
    return InvalidRequest(
        "Requests that modify an object's encryption type to SSE-KMS require an Amazon Web "
        "Services KMS key Amazon Resource "
        "Name (ARN). Modify the request to specify a KMS key ARN, and then try again.");
  }
  // Key ids and aliases are not accepted here.
  if (!arn.starts_with("arn:") || arn.find(":key/") == std::string_view::npos) {
    return InvalidRequest(
        "Requests that modify an object's encryption type to SSE-KMS require a valid Amazon Web "
        "Services KMS key Amazon "
        "Resource Name (ARN). Confirm that you have a correctly formatted KMS key ARN in your "
        "request, and then try again.");
  }
  Encryption requested;
  requested.kind = EncryptionKind::kKms;
  PENSTOCK_ASSIGN(requested.kms_key_arn, KmsKeyArn(call, arn));
  // Keys of other accounts are refused. The requester is the bucket's owner (access.h).
  if (bucket.owner_id == call.exchange.identity.owner_id &&
      arn.find(":" + call.exchange.identity.account_id + ":") == std::string_view::npos) {
    return MakeError("AccessDenied", {},
                     "The Amazon Web Services KMS key in the request must be owned by the same "
                     "account as the bucket. Modify "
                     "the request to specify a KMS key from the same account, and then try again.");
  }
  requested.bucket_key = kms->TextOf("BucketKeyEnabled") == "true";
  return requested;
}

// Called inside the store's transaction.
Result<void> CheckChangeable(const store::ObjectRecord& object, WallTime now) {
  const EncryptionKind kind = StoredEncryption(object.attributes).kind;
  if (kind != EncryptionKind::kS3 && kind != EncryptionKind::kKms) {
    return InvalidRequest(
        "The UpdateObjectEncryption operation doesn't support source objects with the encryption "
        "type DSSE-KMS or SSE-C. Only "
        "source objects encrypted with SSE-S3 or SSE-KMS are supported.");
  }
  if (CheckUnlocked(StoredObjectLock(object.attributes), now, /*bypass=*/false).ok()) return Ok();
  return MakeError("AccessDenied", {},
                   "The encryption type for the specified object can't be updated because that "
                   "object is protected by S3 Object "
                   "Lock.");
}

}  // namespace

Result<void> UpdateObjectEncryption(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  if (SignedByVersionTwo(call)) {
    return InvalidRequest(
        "Requests that modify an object encryption configuration require Amazon Web Services "
        "Signature Version 4. Modify the "
        "request to use Amazon Web Services Signature Version 4, and then try again.");
  }
  PENSTOCK_ASSIGN(const Encryption requested, RequestedEncryption(call, *bucket));
  // Uses the id of the opened version, because a newer version may exist by now.
  return call.store.ChangeAttributes(
      call.bucket(), call.key(), object->version_id,
      [&](const store::ObjectRecord& current, store::Attributes& attributes) -> Result<void> {
        PENSTOCK_TRY(CheckChangeable(current, call.exchange.space->clock->Now()));
        std::erase_if(attributes,
                      [](const auto& entry) { return IsEncryptionAttribute(entry.first); });
        StoreEncryption(requested, attributes);
        return Ok();
      });
}

}  // namespace penstock::emulator::s3
