#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/dates.h"
#include "base/xml/xml.h"
#include "client/s3/configuration/configuration.h"
#include "client/s3/configuration/tag_document.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"

namespace penstock::s3 {
namespace {

// A sub-resource of an object, from AWS's S3 service model.
struct SubResource {
  const char* parameter;
  std::string_view get;
  std::string_view put;
};
constexpr SubResource kTagging = {"tagging", "GetObjectTagging", "PutObjectTagging"};

const SubResource& InfoOf(ObjectConfigurationKind kind) {
  static constexpr SubResource kAcl = {"acl", "GetObjectAcl", "PutObjectAcl"};
  static constexpr SubResource kLegalHold = {"legal-hold", "GetObjectLegalHold",
                                             "PutObjectLegalHold"};
  static constexpr SubResource kRetention = {"retention", "GetObjectRetention",
                                             "PutObjectRetention"};
  switch (kind) {
    case ObjectConfigurationKind::kAcl: return kAcl;
    case ObjectConfigurationKind::kLegalHold: return kLegalHold;
    case ObjectConfigurationKind::kRetention: break;
  }
  return kRetention;
}

// `request` has bucket, key and version.
template <class Request>
Result<WireRequest> StartSubResource(Operation operation, const Request& request,
                                     const char* parameter, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(operation, request.bucket, request.key, context));
  wire.query.emplace_back(parameter, "");
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  return wire;
}

// Also adds the checksum that S3 requires. An empty document is none.
void SetDocument(std::string document, const BuildContext& context, WireRequest& wire) {
  wire.document = std::move(document);
  if (!wire.document.empty()) wire.headers.push_back({"Content-Type", "application/xml"});
  AppendDocumentChecksum(context, wire);
}

Result<ObjectConfigurationResponse> VersionOf(const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return ObjectConfigurationResponse{ReadVersionId(response.head)};
}

// Reads <ChecksumCRC32C> and its like as {"crc32c", value}.
NameValueList ReadChecksums(const XmlElement& parent) {
  constexpr std::string_view kPrefix = "Checksum";
  NameValueList out;
  for (const XmlElement& child : parent.Children()) {
    const std::string_view name = child.name();
    if (!name.starts_with(kPrefix) || name == "ChecksumType") continue;
    out.emplace_back(AsciiLower(name.substr(kPrefix.size())), child.text());
  }
  return out;
}

Result<int> ReadInt(const XmlElement& parent, std::string_view name) {
  PENSTOCK_ASSIGN(const std::uint64_t number, ReadNumber(parent, name));
  constexpr std::uint64_t kMax = 10'000;
  if (number <= kMax) return static_cast<int>(number);
  return Error::Make(ErrorKind::kUnavailable, "the response's <" + std::string(name) + "> is " +
                                                  std::to_string(number) + ", above 10000");
}

Result<void> ReadParts(const XmlElement& element, GetObjectAttributesResponse& out) {
  if (!element) return Ok();
  PENSTOCK_ASSIGN(out.parts_count, ReadInt(element, "PartsCount"));
  for (const XmlElement& child : element.Children("Part")) {
    ObjectPart part;
    PENSTOCK_ASSIGN(part.part_number, ReadInt(child, "PartNumber"));
    PENSTOCK_ASSIGN(part.size, ReadNumber(child, "Size"));
    part.checksums = ReadChecksums(child);
    out.parts.push_back(std::move(part));
  }
  if (ReadFlag(element, "IsTruncated")) {
    PENSTOCK_ASSIGN(out.next_part_number_marker, ReadInt(element, "NextPartNumberMarker"));
  }
  return Ok();
}

}  // namespace

Result<WireRequest> BuildRequest(const GetObjectTaggingRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kGetObjectConfiguration, request,
                                                     kTagging.parameter, context));
  wire.operation_name = kTagging.get;
  return wire;
}

Result<GetObjectTaggingResponse> ParseResponse(const GetObjectTaggingRequest&,
                                               const WireResponse& response) {
  PENSTOCK_ASSIGN(std::vector<Tag> tags, ReadTags(response));
  return GetObjectTaggingResponse{std::move(tags), ReadVersionId(response.head)};
}

Result<WireRequest> BuildRequest(const PutObjectTaggingRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kPutObjectConfiguration, request,
                                                     kTagging.parameter, context));
  wire.operation_name = kTagging.put;
  SetDocument(TagDocument(request.tags), context, wire);
  return wire;
}

Result<ObjectConfigurationResponse> ParseResponse(const PutObjectTaggingRequest&,
                                                  const WireResponse& response) {
  return VersionOf(response);
}

Result<WireRequest> BuildRequest(const DeleteObjectTaggingRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kDeleteObjectConfiguration, request,
                                                     kTagging.parameter, context));
  wire.operation_name = "DeleteObjectTagging";
  return wire;
}

Result<ObjectConfigurationResponse> ParseResponse(const DeleteObjectTaggingRequest&,
                                                  const WireResponse& response) {
  return VersionOf(response);
}

Result<WireRequest> BuildRequest(const GetObjectConfigurationRequest& request,
                                 const BuildContext& context) {
  const SubResource& info = InfoOf(request.kind);
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kGetObjectConfiguration, request,
                                                     info.parameter, context));
  wire.operation_name = info.get;
  return wire;
}

Result<ObjectConfiguration> ParseResponse(const GetObjectConfigurationRequest&,
                                          const WireResponse& response) {
  PENSTOCK_TRY(CheckAnyDocument(response));
  return ObjectConfiguration{response.body};
}

Result<WireRequest> BuildRequest(const PutObjectConfigurationRequest& request,
                                 const BuildContext& context) {
  if (request.document.empty() == request.canned_acl.empty())
    return InvalidRequest("the request needs either a document or, for an ACL, a canned ACL");
  if (!request.canned_acl.empty() && request.kind != ObjectConfigurationKind::kAcl)
    return InvalidRequest("a canned ACL is only possible with ObjectConfigurationKind::kAcl");
  const SubResource& info = InfoOf(request.kind);
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kPutObjectConfiguration, request,
                                                     info.parameter, context));
  wire.operation_name = info.put;
  PENSTOCK_TRY(AppendText("x-amz-acl", request.canned_acl, wire.headers));
  if (request.bypass_governance_retention)
    wire.headers.push_back({"x-amz-bypass-governance-retention", "true"});
  SetDocument(request.document, context, wire);
  return wire;
}

Result<WireRequest> BuildRequest(const RestoreObjectRequest& request, const BuildContext& context) {
  if (request.days < 0) {
    return InvalidRequest("days must be 1 or more, or 0 to leave it out, not " +
                          std::to_string(request.days));
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartSubResource(Operation::kRestoreObject, request, "restore", context));
  XmlWriter xml;
  xml.Open("RestoreRequest", kXmlNamespace);
  if (request.days > 0) xml.Element("Days", std::to_string(request.days));
  if (!request.tier.empty()) {
    xml.Open("GlacierJobParameters");
    xml.Element("Tier", request.tier);
    xml.Close("GlacierJobParameters");
  }
  xml.Close("RestoreRequest");
  SetDocument(xml.Take(), context, wire);
  return wire;
}

Result<RestoreObjectResponse> ParseResponse(const RestoreObjectRequest&,
                                            const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return RestoreObjectResponse{response.head.status == 200};
}

Result<WireRequest> BuildRequest(const GetObjectAttributesRequest& request,
                                 const BuildContext& context) {
  constexpr int kMaxParts = 1000;
  if (request.max_parts < 1 || request.max_parts > kMaxParts) {
    return InvalidRequest("max_parts must be 1 to 1000, not " + std::to_string(request.max_parts));
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartSubResource(Operation::kGetObjectAttributes, request,
                                                     "attributes", context));
  wire.headers.push_back(
      {"x-amz-object-attributes", "ETag,Checksum,ObjectParts,StorageClass,ObjectSize"});
  wire.headers.push_back({"x-amz-max-parts", std::to_string(request.max_parts)});
  if (request.part_number_marker > 0) {
    wire.headers.push_back(
        {"x-amz-part-number-marker", std::to_string(request.part_number_marker)});
  }
  AppendCustomerKey(request.customer_key, wire);
  return wire;
}

Result<GetObjectAttributesResponse> ParseResponse(const GetObjectAttributesRequest&,
                                                  const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "GetObjectAttributesResponse",
                                                           "GetObjectAttributesOutput"));
  const XmlElement root = document.root();
  GetObjectAttributesResponse out;
  out.etag = ReadETag(root.Child("ETag").text());
  PENSTOCK_ASSIGN(out.size, ReadNumber(root, "ObjectSize"));
  out.storage_class = root.Child("StorageClass").text();
  out.version_id = ReadVersionId(response.head);
  out.last_modified = ReadMetadata(response.head).last_modified;
  const XmlElement checksum = root.Child("Checksum");
  if (checksum) out.checksums = ReadChecksums(checksum);
  if (checksum) out.checksum_type = checksum.Child("ChecksumType").text();
  PENSTOCK_TRY(ReadParts(root.Child("ObjectParts"), out));
  return out;
}

}  // namespace penstock::s3
