// CompleteMultipartUpload.
#include <algorithm>

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/multipart/complete_request.h"
#include "emulator/s3/multipart/multipart.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Enough for 10,000 parts with checksums and indentation.
constexpr std::uint64_t kMaxDocumentBytes = 8u << 20;

// True if the upload declared no algorithm. S3 then does not show the checksums of its parts.
bool HasInternalChecksum(const store::ObjectRecord& object) {
  return !object.parts.empty() && object.parts.front().checksum_is_internal;
}

void Respond(Call& call, const store::ObjectRecord& object) {
  AddExpirationHeader(call, object);
  const Encryption encryption = StoredEncryption(object.attributes);
  // The response does not contain the headers of a customer key.
  if (encryption.kind != EncryptionKind::kCustomer) AddEncryptionHeaders(call, encryption);
  // Recorded against Amazon S3: under SSE-KMS a checksum that S3 chose is returned by reads but not
  // here.
  const bool shows_checksum = !object.checksum.empty() && (encryption.kind == EncryptionKind::kS3 ||
                                                           !HasInternalChecksum(object));
  XmlWriter xml;
  xml.Open("CompleteMultipartUploadResult", kXmlNamespace);
  xml.Element("Location", ObjectUrl(call));
  xml.Element("Bucket", call.bucket().value);
  xml.Element("Key", call.key().value);
  xml.Element("ETag", Quoted(object.etag.value));
  if (shows_checksum) {
    WriteChecksum(xml, object.checksum_algorithm, object.checksum);
    xml.Element("ChecksumType", object.checksum_type);
  }
  xml.Close("CompleteMultipartUploadResult");
  call.RespondXml(xml.Take());
}

// Responds to a retry whose first response was lost: the same list of parts gets the same response.
Result<void> RespondRepeated(Call& call, const store::BucketRecord& bucket,
                             const std::vector<RequestedPart>& requested) {
  const UploadId id = UploadIdParameter(call);
  const auto found = call.store.FindCompleted(call.bucket(), call.key(), id);
  if (!found.ok() || *found == nullptr) return NoSuchUpload(id);
  const store::ObjectRecord& object = **found;
  const bool same =
      std::equal(requested.begin(), requested.end(), object.parts.begin(), object.parts.end(),
                 [](const RequestedPart& part, const store::PartRecord& stored) {
                   return part.number == stored.number && part.etag == stored.etag.value;
                 });
  if (!same) return NoSuchUpload(id);
  if (bucket.versioning == store::Versioning::kEnabled) {
    call.response().Add("x-amz-version-id", object.version_id.value);
  }
  Respond(call, object);
  return Ok();
}

Result<void> CheckObjectSize(const Call& call, std::uint64_t size) {
  const auto claimed = call.Header("x-amz-mp-object-size");
  if (!claimed || *claimed == std::to_string(size)) return Ok();
  if (claimed->starts_with('-'))
    return InvalidRequest("Value for x-amz-mp-object-size header is less than zero");
  if (!ParseDecimal(*claimed))
    return InvalidRequest("Value for x-amz-mp-object-size header is invalid: '" +
                          std::string(*claimed) + "'");
  return InvalidRequest("The provided 'x-amz-mp-object-size' header value " +
                        std::string(*claimed) +
                        " does not match what was computed: " + std::to_string(size));
}

Result<void> CheckChecksumType(const Call& call, const store::UploadRecord& upload) {
  const auto type = call.Header("x-amz-checksum-type");
  if (!type || *type == upload.checksum_type) return Ok();
  return InvalidRequest(
      "The upload was created using the " +
      (upload.checksum_type.empty() ? std::string("null") : upload.checksum_type) +
      " checksum mode. The complete request must use the same checksum mode.");
}

// Sets the checksum of the whole object and verifies the checksum in the request.
Result<void> FillChecksum(const Call& call, const store::UploadRecord& upload,
                          store::ObjectRecord& record) {
  const ChecksumInfo* declared = FindChecksum(upload.checksum_algorithm);
  const ChecksumInfo& info = declared ? *declared : InfoOf(ChecksumAlgorithm::kCrc64Nvme);
  const bool composite = upload.checksum_type == kComposite;
  std::vector<PartChecksum> parts;
  parts.reserve(record.parts.size());
  for (const store::PartRecord& part : record.parts) {
    parts.push_back({part.checksum, part.size});
  }
  record.checksum_algorithm = info.name;
  record.checksum_type = composite ? kComposite : kFullObject;
  record.checksum = composite ? CompositeChecksum(info.algorithm, parts)
                              : FullObjectChecksum(info.algorithm, parts);

  // Recorded against Amazon S3 (LocalStack's multipart checksum tests): without a declared
  // algorithm the header has no effect. Another algorithm, or a FULL_OBJECT value without the type,
  // never matches.
  if (declared == nullptr) return Ok();
  PENSTOCK_ASSIGN(const ChecksumClaim claim, ReadWholeObjectClaim(call));
  if (claim.info == nullptr) return Ok();
  const std::string_view without_count =
      std::string_view(record.checksum).substr(0, record.checksum.find('-'));
  const bool same_value =
      claim.value == record.checksum || (composite && claim.value == without_count);
  const bool has_type = composite || call.Header("x-amz-checksum-type");
  if (claim.info == &info && has_type && same_value) return Ok();
  return MakeError(
      "BadDigest", {},
      "The " + std::string(info.lower) + " you specified did not match the calculated checksum.");
}

Error ConditionalConflict(std::string_view condition, const std::string& key) {
  return MakeError("ConditionalRequestConflict",
                   {{"Condition", std::string(condition)}, {"Key", key}});
}

// Recorded against Amazon S3: the request conflicts if the key was deleted or overwritten after
// CreateMultipartUpload, even if the condition is met now.
store::Precondition CompletePrecondition(WriteCondition condition,
                                         const store::UploadRecord& upload) {
  if (condition.unconditional()) return {};
  return [condition = std::move(condition), at_create = upload.current_at_create,
          began = upload.initiated,
          key = upload.key.value](const store::ObjectRecord* current) -> Result<void> {
    PENSTOCK_TRY(CheckWrite(condition, key, current));
    if (condition.if_none_match) {
      const bool deleted = !at_create.empty();
      const bool marked =
          current != nullptr && current->is_delete_marker && current->last_modified >= began;
      if (deleted || marked) return ConditionalConflict("If-None-Match", key);
    } else if (VersionFingerprint(current) != at_create) {
      return ConditionalConflict("If-Match", key);
    }
    return Ok();
  };
}

Result<store::ObjectRecord> MakeRecord(const Call& call, const store::UploadRecord& upload,
                                       std::vector<store::PartRecord> parts) {
  store::ObjectRecord record;
  record.key = upload.key;
  record.owner_id = upload.owner_id;
  const bool directory = IsDirectoryBucketName(upload.bucket.value);
  // General purpose buckets use the time of CreateMultipartUpload, directory buckets the time of
  // completion.
  if (!directory) record.last_modified = upload.initiated;
  record.storage_class = upload.storage_class;
  record.attributes = upload.attributes;
  record.tags = upload.tags;
  record.etag = directory ? OpaqueETag() : CompositeETag(parts);
  for (const store::PartRecord& part : parts) record.size += part.size;
  record.parts = std::move(parts);
  PENSTOCK_TRY(CheckObjectSize(call, record.size));
  PENSTOCK_TRY(FillChecksum(call, upload, record));
  // Recorded against Amazon S3: with a customer key, S3 computes no checksum unless the client
  // requested one.
  if (upload.checksum_algorithm.empty() &&
      StoredEncryption(record.attributes).kind == EncryptionKind::kCustomer) {
    record.checksum_algorithm.clear();
    record.checksum_type.clear();
    record.checksum.clear();
  }
  return record;
}

}  // namespace

Result<void> CompleteMultipartUpload(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const WriteCondition condition, ReadWriteCondition(call));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.limit_bytes = kMaxDocumentBytes,
                                                              .checksum_of_body = false}));
  std::vector<RequestedPart> requested;  // Recorded against Amazon S3: an empty body has no parts.
  if (!text.empty()) {
    PENSTOCK_ASSIGN(requested, ParseCompleteRequest(text));
  }
  const auto opened = OpenUpload(call);
  if (!opened.ok()) {
    if (opened.error().code == "NoSuchUpload") return RespondRepeated(call, *bucket, requested);
    return opened.error();
  }
  const store::UploadRecord& upload = *opened.value();
  // Recorded against Amazon S3: the upload must exist first.
  if (requested.empty()) return InvalidRequest("You must specify at least one part");
  PENSTOCK_TRY(CheckChecksumType(call, upload));
  if (call.families.encryption) {
    Encryption encryption = StoredEncryption(upload.attributes);
    PENSTOCK_TRY(CheckOptionalUploadKey(call, encryption));
  }
  PENSTOCK_ASSIGN(const std::vector<store::StoredPart> stored,
                  call.store.ListParts(call.bucket(), call.key(), upload.id, 0, kMaxParts));
  const PartRules rules{upload.id.value, upload.checksum_algorithm, upload.checksum_type,
                        call.options.min_part_size_bytes, IsDirectoryBucket(*bucket)};
  PENSTOCK_ASSIGN(std::vector<store::PartRecord> parts, MatchParts(requested, stored, rules));

  store::CompleteUpload complete;
  complete.bucket = call.bucket();
  complete.key = call.key();
  complete.upload_id = upload.id;
  for (const store::PartRecord& part : parts) complete.parts.push_back({part.number, part.etag});
  PENSTOCK_ASSIGN(complete.record, MakeRecord(call, upload, std::move(parts)));
  complete.precondition = CompletePrecondition(condition, upload);
  auto outcome = call.store.Complete(std::move(complete));
  if (!outcome.ok()) {
    // A concurrent request completed the upload.
    if (outcome.error().code == "NoSuchUpload") return RespondRepeated(call, *bucket, requested);
    // A part was replaced after the match.
    if (outcome.error().code == "InvalidPart")
      return MakeError("InvalidPart", outcome.error().details);
    return std::move(outcome).error();
  }
  AddNewVersionHeader(call, *outcome);
  Respond(call, *outcome->object);
  return Ok();
}

}  // namespace penstock::emulator::s3
