// CopyObject: writes new metadata over the same bytes. The bytes are shared, not copied.
#include <algorithm>

#include "base/encoding.h"
#include "emulator/s3/access/acl.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/bucket_encryption.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/copy_source.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

// Returns true for REPLACE, false for COPY.
Result<bool> ReadDirective(const Call& call, std::string_view header, std::string_view what) {
  const auto value = call.Header(header);
  if (!value || *value == "COPY") return false;
  if (*value == "REPLACE") return true;
  return InvalidArgument("Unknown " + std::string(what) + " directive.", header, *value);
}

// Recorded against Amazon S3: a configured default encryption, even AES256, counts as a change of
// encryption. So does KMS of the source if the default differs.
Result<void> RefuseUnchangedSelfCopy(const Call& call, const store::BucketRecord& bucket,
                                     const OpenedSource& source, bool replace) {
  const CopySource& address = source.address;
  const bool same_object =
      address.bucket == call.bucket() && address.key == call.key() && !address.version;
  const bool changes = replace || call.Header("x-amz-storage-class") ||
                       call.Header(kWebsiteRedirect) || call.families.encryption ||
                       HasOwnEncryption(bucket) ||
                       StoredEncryption(source.object->attributes).kind != EncryptionKind::kS3;
  if (!same_object || changes) return Ok();
  return InvalidRequest(
      "This copy request is illegal because it is trying to copy an object to itself without "
      "changing the object's "
      "metadata, storage class, website redirect location or encryption attributes.");
}

Result<const ChecksumInfo*> ChooseAlgorithm(const Call& call, const store::ObjectRecord& source) {
  if (const auto requested = call.Header("x-amz-checksum-algorithm")) {
    if (const ChecksumInfo* info = FindChecksum(*requested)) return info;
    return UnsupportedChecksumAlgorithm();
  }
  const ChecksumInfo* source_algorithm = FindChecksum(source.checksum_algorithm);
  return source_algorithm ? source_algorithm : &InfoOf(ChecksumAlgorithm::kCrc64Nvme);
}

// Copies the source's attributes, except those that S3 never copies.
store::Attributes CopiedAttributes(const Call& call, const store::ObjectRecord& source) {
  store::Attributes attributes;
  std::copy_if(source.attributes.begin(), source.attributes.end(), std::back_inserter(attributes),
               [](const auto& entry) {
                 const bool internal = entry.first.front() == kInternalAttributeMark;
                 return entry.first != kWebsiteRedirect &&
                        (!internal || entry.first.starts_with(kUnprintablePrefix));
               });
  if (const auto redirect = call.Header(kWebsiteRedirect))
    attributes.emplace_back(kWebsiteRedirect, *redirect);
  return attributes;
}

// Sets ETag and checksum of a single-part object with the source's bytes. Reuses the source's
// values where possible; otherwise reads the bytes.
Result<void> FillDigests(const Call& call, store::ObjectRecord& record, const OpenedSource& opened,
                         const ChecksumInfo& info, bool wants_md5) {
  const store::ObjectRecord& source = *opened.object;
  record.checksum_algorithm = info.name;
  record.checksum_type = kFullObject;
  const bool same_checksum =
      source.checksum_algorithm == info.name && source.checksum_type == kFullObject;
  const bool has_md5 = source.parts.empty() && StoredEncryption(source.attributes).etag_is_md5() &&
                       !IsDirectoryBucketName(opened.address.bucket.value);
  record.etag = !wants_md5 ? OpaqueETag() : has_md5 ? source.etag : ETag();
  if (same_checksum && !record.etag.empty()) {
    record.checksum = source.checksum;
    return Ok();
  }
  PENSTOCK_ASSIGN(ContentDigests digests,
                  DigestContent(call.exchange, source.content, {0, source.size},
                                {.algorithm = info.algorithm, .md5 = record.etag.empty()}));
  if (record.etag.empty()) record.etag = ETag(HexEncode(AsBytes(digests.md5)));
  record.checksum = std::move(digests.checksum);
  return Ok();
}

Result<store::ObjectRecord> MakeRecord(const Call& call, ObjectSettings& settings,
                                       const OpenedSource& opened, bool replace) {
  const store::ObjectRecord& source = *opened.object;
  if (source.size > kMaxBodyBytes) {
    return InvalidRequest(
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
        std::to_string(kMaxBodyBytes));
  }
  PENSTOCK_ASSIGN(const bool replace_tags,
                  ReadDirective(call, "x-amz-tagging-directive", "tagging"));
  if (!replace_tags && !source.tags.empty() && IsDirectoryBucket(*call.opened)) {
    return NotImplemented(
        "Directory buckets do not support tags; copy the tagged object with "
        "x-amz-tagging-directive: "
        "REPLACE.");
  }
  PENSTOCK_ASSIGN(const ChecksumInfo* info, ChooseAlgorithm(call, source));
  // A copy must not outlive its damaged source.
  PENSTOCK_TRY(CheckCopySource(call.exchange, source.content, {0, source.size}));
  store::ObjectRecord record;
  record.key = call.key();
  record.owner_id = OwnerOfNewObject(call, *call.opened);
  record.size = source.size;
  record.content = source.content;
  record.storage_class = std::move(settings.storage_class);
  record.attributes = replace ? std::move(settings.attributes) : CopiedAttributes(call, source);
  record.tags = replace_tags ? std::move(settings.tags) : source.tags;
  StoreSettings(settings, record.attributes);
  PENSTOCK_TRY(
      FillDigests(call, record, opened, *info, EtagIsMd5(*call.opened, settings.encryption)));
  return record;
}

}  // namespace

Result<void> CopyObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const WriteCondition condition, ReadWriteCondition(call));
  PENSTOCK_ASSIGN(const bool replace, ReadDirective(call, "x-amz-metadata-directive", "metadata"));
  PENSTOCK_ASSIGN(const OpenedSource source, OpenCopySource(call));
  PENSTOCK_TRY(RefuseUnchangedSelfCopy(call, *bucket, source, replace));
  PENSTOCK_ASSIGN(ObjectSettings settings, ReadObjectSettings(call, *bucket));
  PENSTOCK_ASSIGN(store::ObjectRecord record, MakeRecord(call, settings, source, replace));
  PENSTOCK_ASSIGN(const store::PutOutcome outcome,
                  call.store.Put(store::PutObject{bucket->name, std::move(record),
                                                  MakePrecondition(condition, call.key())}));
  const store::ObjectRecord& object = *outcome.object;
  AddNewVersionHeader(call, outcome);
  // Recorded against Amazon S3: if versioning is suspended, CopyObject returns the null version and
  // PutObject does not.
  if (outcome.versioning == store::Versioning::kSuspended)
    call.response().Add("x-amz-version-id", object.version_id.value);
  AddSourceVersionHeader(call, source);
  AddExpirationHeader(call, object);
  AddEncryptionHeaders(call, settings.encryption);
  AddContextHeader(call, settings.encryption);
  XmlWriter xml;
  xml.Open("CopyObjectResult", kXmlNamespace);
  xml.Element("LastModified", XmlDate(object.last_modified));
  xml.Element("ETag", Quoted(object.etag.value));
  xml.Element("ChecksumType", object.checksum_type);
  WriteChecksum(xml, object.checksum_algorithm, object.checksum);
  xml.Close("CopyObjectResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
