// ListMultipartUploads and ListParts.
#include <algorithm>

#include "base/encoding.h"
#include "emulator/s3/authorization/upload_access.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/listing/list_query.h"
#include "emulator/s3/multipart/multipart.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::int64_t kMaxPartsPage = 1000;

struct UploadMarkers {
  std::string key;
  std::string upload_id;
};

// Directory buckets have one opaque key-marker: the base64 of this prefix, upload id and key.
constexpr std::string_view kMarkerPrefix = "penstock-directory:";

std::string OpaqueMarker(const store::UploadListEntry& last) {
  const std::string id = last.upload ? last.upload->id.value : std::string();
  const std::string& key = last.upload ? last.upload->key.value : last.common_prefix;
  return Base64Encode(AsBytes(std::string(kMarkerPrefix) + id + ":" + key));
}

// If the upload no longer exists, the page begins with the next key.
Result<UploadMarkers> ReadOpaqueMarker(Call& call) {
  if (call.Query("upload-id-marker"))
    return NotImplemented("Directory buckets do not support upload-id-marker.");
  const std::string_view marker = call.Query("key-marker").value_or("");
  if (marker.empty()) return UploadMarkers{};
  const auto raw = Base64Decode(marker);
  const std::string_view text = raw && raw->starts_with(kMarkerPrefix)
                                    ? std::string_view(*raw).substr(kMarkerPrefix.size())
                                    : std::string_view();
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return InvalidArgument("The key-marker was not issued by this bucket", "key-marker", marker);
  UploadMarkers markers{std::string(text.substr(colon + 1)), std::string(text.substr(0, colon))};
  const auto found =
      call.store.FindUpload(call.bucket(), ObjectKey(markers.key), UploadId(markers.upload_id));
  if (!found.ok()) markers.upload_id.clear();
  return markers;
}

// upload-id-marker is ignored without key-marker, and must be an upload of that key. As in S3, the
// upload may have been aborted or completed (minio issue 1805).
Result<UploadMarkers> ReadMarkers(Call& call) {
  UploadMarkers markers{std::string(call.Query("key-marker").value_or("")), {}};
  if (markers.key.empty()) return markers;
  markers.upload_id = call.Query("upload-id-marker").value_or("");
  if (markers.upload_id.empty()) return markers;
  const auto found =
      call.store.FindUpload(call.bucket(), ObjectKey(markers.key), UploadId(markers.upload_id));
  if (!found.ok() && found.error().code == "NoSuchUpload") {
    if (store::SequenceOf(UploadId(markers.upload_id))) return markers;
    return InvalidArgument("Invalid uploadId marker", "upload-id-marker", markers.upload_id);
  }
  PENSTOCK_TRY(found);
  return markers;
}

// The name of a user is the part of the ARN after the path.
std::string NameOfInitiator(const Call& call, const std::string& initiator) {
  if (const auto slash = initiator.rfind('/'); slash != std::string::npos)
    return initiator.substr(slash + 1);
  const Identity& identity = call.exchange.identity;
  if (identity.owner_id == initiator) return identity.display_name;
  const OwnerDirectory* const owners = call.exchange.space->owners;
  const auto owner = owners != nullptr ? owners->FindOwner(initiator) : std::nullopt;
  return owner ? owner->display_name : std::string();
}

// The ID is the ARN of an IAM user, or else the canonical id (Amazon S3 API Reference,
// "Initiator"). Recorded against Amazon S3 in 2026: only Initiator still has a DisplayName.
void WriteInitiator(XmlWriter& xml, const Call& call, const store::UploadRecord& upload) {
  if (IsDirectoryBucket(*call.opened)) {  // Directory buckets return account ids.
    xml.Open("Initiator");
    xml.Element("ID", call.exchange.identity.account_id);
    xml.Close("Initiator");
    return;
  }
  const std::string& initiator = InitiatorOf(upload);
  const std::string name = NameOfInitiator(call, initiator);
  xml.Open("Initiator");
  xml.Element("ID", initiator);
  if (!name.empty()) xml.Element("DisplayName", name);
  xml.Close("Initiator");
}

void WriteUploadOwner(XmlWriter& xml, const Call& call, const store::UploadRecord& upload) {
  WriteOwner(xml, "Owner",
             IsDirectoryBucket(*call.opened) ? call.exchange.identity.account_id : upload.owner_id);
}

void WriteUpload(XmlWriter& xml, const Call& call, const ListQuery& query,
                 const store::UploadRecord& upload) {
  xml.Open("Upload");
  xml.Element("Key", query.Encode(upload.key.value));
  xml.Element("UploadId", upload.id.value);
  WriteInitiator(xml, call, upload);
  WriteUploadOwner(xml, call, upload);
  xml.Element("StorageClass", upload.storage_class);
  xml.Element("Initiated", XmlDate(upload.initiated));
  if (!upload.checksum_algorithm.empty()) {
    xml.Element("ChecksumAlgorithm", upload.checksum_algorithm);
    xml.Element("ChecksumType", upload.checksum_type);
  }
  xml.Close("Upload");
}

// NextKeyMarker and NextUploadIdMarker are always present. They contain the last upload, or are
// empty after a common prefix.
void WriteMarkers(XmlWriter& xml, const ListQuery& query, const UploadMarkers& markers,
                  const store::UploadPage& page) {
  const store::UploadRecord* last =
      page.entries.empty() ? nullptr : page.entries.back().upload.get();
  xml.Element("KeyMarker", query.Encode(markers.key));
  xml.Element("UploadIdMarker", markers.upload_id);
  xml.Element("NextKeyMarker", last ? query.Encode(last->key.value) : "");
  xml.Element("NextUploadIdMarker", last ? last->id.value : "");
}

void WritePart(XmlWriter& xml, const store::UploadRecord& upload, const store::PartRecord& part) {
  xml.Open("Part");
  WriteNumber(xml, "PartNumber", static_cast<std::uint64_t>(part.number));
  xml.Element("LastModified", XmlDate(part.last_modified));
  xml.Element("ETag", Quoted(part.etag.value));
  WriteNumber(xml, "Size", part.size);
  WriteChecksum(xml, upload.checksum_algorithm, part.checksum);
  xml.Close("Part");
}

}  // namespace

Result<void> ListMultipartUploads(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const ListQuery query, ReadListQuery(call, "max-uploads"));
  PENSTOCK_TRY(CheckLimit(query.requested, "max-uploads"));
  const bool directory = IsDirectoryBucket(*bucket);
  if (directory) PENSTOCK_TRY(CheckDirectoryListing(query));
  PENSTOCK_ASSIGN(const UploadMarkers markers,
                  directory ? ReadOpaqueMarker(call) : ReadMarkers(call));
  store::UploadPage page;
  if (query.max_keys() > 0) {
    PENSTOCK_ASSIGN(page, call.store.List(store::ListUploads{call.bucket(), query.prefix,
                                                             query.delimiter, markers.key,
                                                             markers.upload_id, query.max_keys()}));
  }
  XmlWriter xml;
  xml.Open("ListMultipartUploadsResult", kXmlNamespace);
  xml.Element("Bucket", bucket->name.value);
  if (directory) {
    xml.Element("KeyMarker", call.Query("key-marker").value_or(""));
    if (page.truncated) xml.Element("NextKeyMarker", OpaqueMarker(page.entries.back()));
    // Directory buckets list in no particular order.
    std::reverse(page.entries.begin(), page.entries.end());
  } else {
    WriteMarkers(xml, query, markers, page);
  }
  if (!query.delimiter.empty()) xml.Element("Delimiter", query.Encode(query.delimiter));
  if (!query.prefix.empty()) xml.Element("Prefix", query.Encode(query.prefix));
  if (query.url_encoding) xml.Element("EncodingType", query.encoding_type);
  WriteNumber(xml, "MaxUploads", static_cast<std::uint64_t>(query.max_keys()));
  WriteFlag(xml, "IsTruncated", page.truncated);
  for (const store::UploadListEntry& entry : page.entries) {
    if (entry.upload) WriteUpload(xml, call, query, *entry.upload);
  }
  for (const store::UploadListEntry& entry : page.entries) {
    if (!entry.upload) WriteCommonPrefix(xml, query, entry.common_prefix);
  }
  xml.Close("ListMultipartUploadsResult");
  call.RespondXml(xml.Take());
  return Ok();
}

Result<void> ListParts(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::int64_t requested, IntegerParameter(call, "max-parts", kMaxPartsPage));
  PENSTOCK_ASSIGN(const std::int64_t marker, IntegerParameter(call, "part-number-marker", 0));
  PENSTOCK_ASSIGN(const store::UploadPtr upload, OpenUpload(call));
  PENSTOCK_TRY(CheckLimit(requested, "max-parts"));
  PENSTOCK_TRY(CheckLimit(marker, "part-number-marker"));
  const int max_parts = static_cast<int>(std::min(requested, kMaxPartsPage));
  if (call.families.encryption) {
    Encryption encryption = StoredEncryption(upload->attributes);
    PENSTOCK_TRY(CheckOptionalUploadKey(call, encryption));
  }
  // Requests one part more, to detect whether the page is the last.
  PENSTOCK_ASSIGN(std::vector<store::StoredPart> parts,
                  call.store.ListParts(call.bucket(), call.key(), upload->id,
                                       static_cast<int>(marker), max_parts + 1));
  const bool truncated = max_parts > 0 && parts.size() > static_cast<std::size_t>(max_parts);
  parts.resize(std::min(parts.size(), static_cast<std::size_t>(max_parts)));
  AddAbortHeaders(call, *upload);
  XmlWriter xml;
  xml.Open("ListPartsResult", kXmlNamespace);
  xml.Element("Bucket", bucket->name.value);
  xml.Element("Key", call.key().value);
  xml.Element("UploadId", upload->id.value);
  WriteInitiator(xml, call, *upload);
  WriteUploadOwner(xml, call, *upload);
  xml.Element("StorageClass", upload->storage_class);
  WriteNumber(xml, "PartNumberMarker", static_cast<std::uint64_t>(marker));
  WriteNumber(xml, "NextPartNumberMarker",
              parts.empty() ? 0 : static_cast<std::uint64_t>(parts.back().part.number));
  WriteNumber(xml, "MaxParts", static_cast<std::uint64_t>(max_parts));
  WriteFlag(xml, "IsTruncated", truncated);
  if (!upload->checksum_algorithm.empty()) {
    xml.Element("ChecksumAlgorithm", upload->checksum_algorithm);
    xml.Element("ChecksumType", upload->checksum_type);
  }
  for (const store::StoredPart& part : parts) WritePart(xml, *upload, part.part);
  xml.Close("ListPartsResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
