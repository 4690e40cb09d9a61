// GetObjectAttributes.
#include <algorithm>

#include "base/dates.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::uint64_t kMaxPartsPage = 1000;

struct RequestedAttributes {
  bool etag = false;
  bool checksum = false;
  bool object_parts = false;
  bool storage_class = false;
  bool object_size = false;
};

bool SetRequested(RequestedAttributes& requested, std::string_view name) {
  if (name == "ETag") return requested.etag = true;
  if (name == "Checksum") return requested.checksum = true;
  if (name == "ObjectParts") return requested.object_parts = true;
  if (name == "StorageClass") return requested.storage_class = true;
  if (name == "ObjectSize") return requested.object_size = true;
  return false;
}

// S3 drops the empty names at the end (recorded against Amazon S3).
Result<void> SetRequestedList(RequestedAttributes& requested, std::string_view list) {
  list = list.substr(0, list.find_last_not_of(',') + 1);
  for (;;) {
    const auto comma = list.find(',');
    const std::string_view name = TrimBlanks(list.substr(0, comma));
    if (!SetRequested(requested, name)) {
      return InvalidArgument("Invalid attribute name specified.", "x-amz-object-attributes", name);
    }
    if (comma == std::string_view::npos) return Ok();
    list.remove_prefix(comma + 1);
  }
}

// Reads a comma-separated list, repeated headers, or both.
Result<RequestedAttributes> ReadRequestedAttributes(const Call& call) {
  RequestedAttributes requested;
  bool any = false;
  for (const HeaderView& header : call.exchange.request.headers) {
    if (!EqualsIgnoreCase(header.name, "x-amz-object-attributes") || header.value.empty()) continue;
    PENSTOCK_TRY(SetRequestedList(requested, header.value));
    any = true;
  }
  if (!any) {
    const auto value = call.Header("x-amz-object-attributes");  // As a presigned query parameter.
    if (!value || value->empty()) {
      return InvalidRequest(
          "The x-amz-object-attributes header specifying the attributes to be retrieved is either "
          "missing or empty");
    }
    PENSTOCK_TRY(SetRequestedList(requested, *value));
  }
  return requested;
}

Result<std::uint64_t> ReadNumber(const Call& call, std::string_view header,
                                 std::uint64_t fallback) {
  const auto text = call.Header(header);
  if (!text) return fallback;
  if (const auto value = ParseDecimal(*text, INT32_MAX)) return *value;
  return InvalidArgument(
      "Argument " + std::string(header) + " must be an integer between 0 and 2147483647", header,
      *text);
}

// Composite values are returned without their "-N".
void WriteObjectChecksum(XmlWriter& xml, const store::ObjectRecord& object) {
  if (object.checksum.empty()) return;
  xml.Open("Checksum");
  WriteChecksum(xml, object.checksum_algorithm,
                std::string_view(object.checksum).substr(0, object.checksum.find('-')));
  xml.Element("ChecksumType", object.checksum_type);
  xml.Close("Checksum");
}

struct PartPage {
  std::uint64_t marker = 0;
  std::uint64_t max = kMaxPartsPage;
};

// Lists single parts only for objects with composite checksums, and always in directory buckets.
void WriteParts(XmlWriter& xml, const store::ObjectRecord& object, const PartPage& page,
                bool directory) {
  xml.Open("ObjectParts");
  WriteNumber(xml, "PartsCount", object.parts.size());
  if (directory || object.checksum_type == kComposite) {
    const auto first =
        std::find_if(object.parts.begin(), object.parts.end(), [&](const store::PartRecord& part) {
          return static_cast<std::uint64_t>(part.number) > page.marker;
        });
    const auto remaining = static_cast<std::uint64_t>(object.parts.end() - first);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(remaining, page.max));
    WriteNumber(xml, "PartNumberMarker", page.marker);
    WriteNumber(xml, "NextPartNumberMarker",
                first == last ? 0 : static_cast<std::uint64_t>((last - 1)->number));
    WriteNumber(xml, "MaxParts", page.max);
    WriteFlag(xml, "IsTruncated", page.max > 0 && last != object.parts.end());
    for (auto part = first; part != last; ++part) {
      xml.Open("Part");
      WriteNumber(xml, "PartNumber", static_cast<std::uint64_t>(part->number));
      WriteNumber(xml, "Size", part->size);
      if (!part->checksum.empty() && !part->checksum_is_internal) {
        WriteChecksum(xml, object.checksum_algorithm, part->checksum);
      }
      xml.Close("Part");
    }
  }
  xml.Close("ObjectParts");
}

}  // namespace

Result<void> GetObjectAttributes(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const RequestedAttributes requested, ReadRequestedAttributes(call));
  PartPage page;
  PENSTOCK_ASSIGN(page.marker, ReadNumber(call, "x-amz-part-number-marker", 0));
  PENSTOCK_ASSIGN(const std::uint64_t max_parts,
                  ReadNumber(call, "x-amz-max-parts", kMaxPartsPage));
  page.max = std::min(max_parts, kMaxPartsPage);
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  Encryption encryption = StoredEncryption(object->attributes);
  PENSTOCK_TRY(CheckObjectKey(call, encryption));
  call.response().Add("Last-Modified", FormatHttpDate(object->last_modified));
  AddVersionHeader(call, *bucket, *object);
  XmlWriter xml;
  xml.Open("GetObjectAttributesResponse", kXmlNamespace);
  if (requested.etag) xml.Element("ETag", object->etag.value);
  if (requested.checksum) WriteObjectChecksum(xml, *object);
  if (requested.object_parts && !object->parts.empty())
    WriteParts(xml, *object, page, IsDirectoryBucket(*bucket));
  if (requested.storage_class) xml.Element("StorageClass", object->storage_class);
  if (requested.object_size) WriteNumber(xml, "ObjectSize", object->size);
  xml.Close("GetObjectAttributesResponse");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
