// CreateMultipartUpload and AbortMultipartUpload.
#include "emulator/s3/multipart/multipart.h"

#include "emulator/s3/access/acl.h"
#include "emulator/s3/authorization/upload_access.h"
#include "emulator/s3/checksums/checksum_claims.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

struct ChecksumChoice {
  std::string algorithm;  // Empty: none declared.
  std::string type;
};

// Reads the checksum algorithm and type, and refuses pairs that S3 does not support (Amazon S3 User
// Guide, "Checking object integrity in Amazon S3").
Result<ChecksumChoice> ReadChecksumChoice(const Call& call) {
  const auto algorithm = call.Header("x-amz-checksum-algorithm");
  const auto type = call.Header("x-amz-checksum-type");
  if (!algorithm) {
    if (!type) return ChecksumChoice{};
    return InvalidRequest(
        "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm "
        "header.");
  }
  const ChecksumInfo* info = FindChecksum(*algorithm);
  if (info == nullptr) return UnsupportedChecksumAlgorithm();
  const std::string_view chosen = type.value_or(info->composite ? kComposite : kFullObject);
  const bool known = chosen == kComposite || chosen == kFullObject;
  if (!known) return InvalidRequest("Value for x-amz-checksum-type header is invalid.");
  if (chosen == kComposite ? !info->composite : !info->full_object) {
    return InvalidRequest("The " + std::string(chosen) + " checksum type cannot be used with the " +
                          std::string(info->lower) + " checksum algorithm.");
  }
  return ChecksumChoice{std::string(info->name), std::string(chosen)};
}

Result<std::string> CurrentFingerprint(Call& call) {
  auto found = call.store.FindObject(call.bucket(), call.key());
  if (found.ok()) return VersionFingerprint(found.value().get());
  if (found.error().code == "NoSuchKey") return std::string();
  return std::move(found).error();
}

}  // namespace

UploadId UploadIdParameter(const Call& call) {
  return UploadId(std::string(call.Query("uploadId").value_or("")));
}

Error NoSuchUpload(const UploadId& id) {
  return MakeError("NoSuchUpload", {{"UploadId", id.value}});
}

Result<store::UploadPtr> OpenUpload(Call& call) {
  const UploadId id = UploadIdParameter(call);
  auto found = call.store.FindUpload(call.bucket(), call.key(), id);
  if (!found.ok() && found.error().code == "NoSuchUpload") return NoSuchUpload(id);
  return found;
}

std::string VersionFingerprint(const store::ObjectRecord* current) {
  if (current == nullptr || current->is_delete_marker) return {};
  return current->version_id.value + " " + current->etag.value + " " +
         std::to_string(current->last_modified.time_since_epoch().count());
}

Result<void> CreateMultipartUpload(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(ChecksumChoice checksum, ReadChecksumChoice(call));
  PENSTOCK_ASSIGN(ObjectSettings settings, ReadObjectSettings(call, *bucket));
  PENSTOCK_ASSIGN(std::string current, CurrentFingerprint(call));
  store::UploadRecord record;
  record.bucket = bucket->name;
  record.key = call.key();
  record.owner_id = OwnerOfNewObject(call, *bucket);
  record.storage_class = std::move(settings.storage_class);
  record.checksum_algorithm = std::move(checksum.algorithm);
  record.checksum_type = std::move(checksum.type);
  record.attributes = std::move(settings.attributes);
  StoreSettings(settings, record.attributes);
  // CompleteMultipartUpload compares it to distinguish a conflicting change (409) from a condition
  // that was never met (412).
  record.current_at_create = std::move(current);
  record.initiator = InitiatorToRecord(call.exchange.identity, record.owner_id);
  record.tags = std::move(settings.tags);
  PENSTOCK_ASSIGN(const store::UploadPtr upload, call.store.CreateUpload(std::move(record)));

  AddAbortHeaders(call, *upload);
  AddEncryptionHeaders(call, settings.encryption);
  AddContextHeader(call, settings.encryption);
  if (!upload->checksum_algorithm.empty()) {
    call.response().Add("x-amz-checksum-algorithm", upload->checksum_algorithm);
    call.response().Add("x-amz-checksum-type", upload->checksum_type);
  }
  XmlWriter xml;
  xml.Open("InitiateMultipartUploadResult", kXmlNamespace);
  xml.Element("Bucket", bucket->name.value);
  xml.Element("Key", call.key().value);
  xml.Element("UploadId", upload->id.value);
  xml.Close("InitiateMultipartUploadResult");
  call.RespondXml(xml.Take());
  return Ok();
}

Result<void> AbortMultipartUpload(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const UploadId id = UploadIdParameter(call);
  if (const auto initiated = call.Header("x-amz-if-match-initiated-time")) {
    const auto time = ReadConditionDate(*initiated);
    if (!time)
      return InvalidArgument("The time must be a date", "x-amz-if-match-initiated-time",
                             *initiated);
    PENSTOCK_ASSIGN(const store::UploadPtr upload, OpenUpload(call));
    using std::chrono::floor;
    if (floor<std::chrono::seconds>(upload->initiated) != floor<std::chrono::seconds>(*time)) {
      return PreconditionFailed("x-amz-if-match-initiated-time");
    }
  }
  const auto aborted = call.store.AbortUpload(bucket->name, call.key(), id);
  if (!aborted.ok())
    return aborted.error().code == "NoSuchUpload" ? NoSuchUpload(id) : aborted.error();
  call.response().status = 204;
  return Ok();
}

}  // namespace penstock::emulator::s3
