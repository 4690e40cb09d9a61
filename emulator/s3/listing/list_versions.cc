// ListObjectVersions.
#include <utility>

#include "emulator/s3/core/handlers.h"
#include "emulator/s3/listing/list_entries.h"
#include "emulator/s3/listing/list_query.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

Result<std::optional<VersionId>> ReadVersionMarker(const Call& call) {
  const auto text = call.Query("version-id-marker");
  if (!text) return std::optional<VersionId>();
  if (!IsVersionId(*text))
    return InvalidArgument("Invalid version id specified", "version-id-marker", *text);
  return std::optional<VersionId>(VersionId(std::string(*text)));
}

}  // namespace

Result<void> ListObjectVersions(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::optional<VersionId> version_marker, ReadVersionMarker(call));
  PENSTOCK_ASSIGN(const ListQuery query, ReadListQuery(call, "max-keys"));
  if (query.requested < 0) return InvalidArgument("max-keys cannot be negative", "max-keys");
  PENSTOCK_ASSIGN(AppendToEntry append_restore, ReadOptionalAttributes(call));
  const std::string key_marker(call.Query("key-marker").value_or(""));
  store::VersionPage page;
  // Recorded against Amazon S3: a version of an empty key marker is behind all keys.
  if (query.max_keys() > 0 && !(version_marker && key_marker.empty())) {
    PENSTOCK_ASSIGN(
        page, call.store.List(store::ListVersions{call.bucket(), query.prefix, query.delimiter,
                                                  key_marker, version_marker, query.max_keys()}));
  }
  XmlWriter xml;
  xml.Open("ListVersionsResult", kXmlNamespace);
  xml.Element("Name", bucket->name.value);
  xml.Element("Prefix", query.Encode(query.prefix));
  xml.Element("KeyMarker", query.Encode(key_marker));
  xml.Element("VersionIdMarker", version_marker ? version_marker->value : "");
  if (page.truncated) {
    xml.Element("NextKeyMarker", query.Encode(page.next_key_marker));
    if (page.next_version_id_marker)
      xml.Element("NextVersionIdMarker", page.next_version_id_marker->value);
  }
  WriteNumber(xml, "MaxKeys", static_cast<std::uint64_t>(query.requested));
  if (call.Query("delimiter")) xml.Element("Delimiter", query.Encode(query.delimiter));
  if (query.url_encoding) xml.Element("EncodingType", query.encoding_type);
  WriteFlag(xml, "IsTruncated", page.truncated);
  std::string document = xml.Take();
  EntryWriter(document, {.url_encoding = query.url_encoding,
                         .with_owner = true,
                         .append_restore = std::move(append_restore)})
      .WriteVersions(page.entries);
  document += "</ListVersionsResult>";
  call.RespondXml(std::move(document));
  return Ok();
}

}  // namespace penstock::emulator::s3
