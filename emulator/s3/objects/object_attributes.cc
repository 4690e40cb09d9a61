// GetObjectAttributes (spec/protocol.md §2.6, last paragraph).
#include <algorithm>

#include "base/dates.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/errors.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::uint64_t kMaxPartsPage = 1000;

struct Wanted {
  bool etag = false;
  bool checksum = false;
  bool object_parts = false;
  bool storage_class = false;
  bool object_size = false;
};

bool Mark(Wanted& wanted, std::string_view name) {
  if (name == "ETag") return wanted.etag = true;
  if (name == "Checksum") return wanted.checksum = true;
  if (name == "ObjectParts") return wanted.object_parts = true;
  if (name == "StorageClass") return wanted.storage_class = true;
  if (name == "ObjectSize") return wanted.object_size = true;
  return false;
}

Result<void> MarkList(Wanted& wanted, std::string_view list) {
  for (;;) {
    const auto comma = list.find(',');
    const std::string_view name = Trim(list.substr(0, comma));
    if (!Mark(wanted, name)) {
      return InvalidArgument("Invalid attribute name specified.", "x-amz-object-attributes", name);
    }
    if (comma == std::string_view::npos) return Ok();
    list.remove_prefix(comma + 1);
  }
}

// A comma list, repeated headers, or both.
Result<Wanted> ReadWanted(const Call& call) {
  Wanted wanted;
  bool any = false;
  for (const HeaderView& header : call.exchange.request.headers) {
    if (!EqualsIgnoreCase(header.name, "x-amz-object-attributes") || header.value.empty()) continue;
    PENSTOCK_TRY(MarkList(wanted, header.value));
    any = true;
  }
  if (!any) {
    const auto value = call.Header("x-amz-object-attributes");  // as a presigned query parameter
    if (!value || value->empty()) {
      return InvalidRequest(
          "The x-amz-object-attributes header specifying the attributes to be retrieved is either "
          "missing or empty");
    }
    PENSTOCK_TRY(MarkList(wanted, *value));
  }
  return wanted;
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

// Composite values are printed without their "-N".
void WriteObjectChecksum(XmlWriter& xml, const store::ObjectRecord& object) {
  if (object.checksum.empty()) return;
  xml.Open("Checksum");
  WriteChecksum(xml, object.checksum_algorithm,
                std::string_view(object.checksum).substr(0, object.checksum.find('-')));
  xml.Element("ChecksumType", object.checksum_type);
  xml.Close("Checksum");
}

struct PartWindow {
  std::uint64_t marker = 0;
  std::uint64_t max = kMaxPartsPage;
};

// Single parts are told only of objects with composite checksums, but for directory buckets, which
// always tell them.
void WriteParts(XmlWriter& xml, const store::ObjectRecord& object, const PartWindow& window,
                bool directory) {
  xml.Open("ObjectParts");
  WriteNumber(xml, "PartsCount", object.parts.size());
  if (directory || object.checksum_type == kComposite) {
    const auto first =
        std::find_if(object.parts.begin(), object.parts.end(), [&](const store::PartRecord& part) {
          return static_cast<std::uint64_t>(part.number) > window.marker;
        });
    const auto left = static_cast<std::uint64_t>(object.parts.end() - first);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(left, window.max));
    WriteNumber(xml, "PartNumberMarker", window.marker);
    WriteNumber(xml, "NextPartNumberMarker",
                first == last ? 0 : static_cast<std::uint64_t>((last - 1)->number));
    WriteNumber(xml, "MaxParts", window.max);
    WriteFlag(xml, "IsTruncated", window.max > 0 && last != object.parts.end());
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
  PENSTOCK_ASSIGN(const Wanted wanted, ReadWanted(call));
  PartWindow window;
  PENSTOCK_ASSIGN(window.marker, ReadNumber(call, "x-amz-part-number-marker", 0));
  PENSTOCK_ASSIGN(const std::uint64_t max_parts,
                  ReadNumber(call, "x-amz-max-parts", kMaxPartsPage));
  window.max = std::min(max_parts, kMaxPartsPage);
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  Encryption encryption = StoredEncryption(object->attributes);
  PENSTOCK_TRY(CheckObjectKey(call, encryption));
  call.response().Add("Last-Modified", FormatHttpDate(object->last_modified));
  AddVersionHeader(call, *bucket, *object);
  XmlWriter xml;
  xml.Open("GetObjectAttributesResponse", kXmlNamespace);
  if (wanted.etag) xml.Element("ETag", object->etag.value);
  if (wanted.checksum) WriteObjectChecksum(xml, *object);
  if (wanted.object_parts && !object->parts.empty())
    WriteParts(xml, *object, window, IsDirectoryBucket(*bucket));
  if (wanted.storage_class) xml.Element("StorageClass", object->storage_class);
  if (wanted.object_size) WriteNumber(xml, "ObjectSize", object->size);
  xml.Close("GetObjectAttributesResponse");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
