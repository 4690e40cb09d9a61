#include "client/s3/verbs/verbs.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/dates.h"
#include "base/xml/xml.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/error_document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
namespace {

void AppendBypass(bool bypass, WireRequest& wire) {
  if (bypass) wire.headers.push_back({"x-amz-bypass-governance-retention", "true"});
}

template <class Request>
Result<void> CheckConditions(const Request& request, const BucketName& bucket) {
  if (!request.if_match_last_modified && !request.if_match_size) return Ok();
  return CheckDirectoryBucket("deleting by modification time or size", bucket,
                              "use if_match with the ETag");
}

}  // namespace

Result<WireRequest> BuildRequest(const DeleteObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kDeleteObject, request.bucket,
                                                       request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  PENSTOCK_TRY(CheckConditions(request, request.bucket));
  if (request.if_match_last_modified) {
    wire.headers.push_back(
        {"x-amz-if-match-last-modified-time", FormatHttpDate(*request.if_match_last_modified)});
  }
  if (request.if_match_size)
    wire.headers.push_back({"x-amz-if-match-size", std::to_string(*request.if_match_size)});
  AppendBypass(request.bypass_governance_retention, wire);
  return wire;
}

Result<DeleteObjectResponse> ParseResponse(const DeleteObjectRequest&,
                                           const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return DeleteObjectResponse{ReadVersionId(response.head),
                              response.head.Find("x-amz-delete-marker") == "true"};
}

namespace {

std::string DeleteDocument(const DeleteObjectsRequest& request) {
  XmlWriter xml;
  xml.Open("Delete", kXmlNamespace);
  for (const ObjectKey& key : request.keys) {
    xml.Open("Object");
    xml.Element("Key", key.value);
    xml.Close("Object");
  }
  for (const ObjectToDelete& object : request.objects) {
    xml.Open("Object");
    xml.Element("Key", object.key.value);
    if (!object.version_id.empty()) xml.Element("VersionId", object.version_id.value);
    if (object.if_match) xml.Element("ETag", QuoteETag(*object.if_match));
    if (object.if_match_last_modified)
      xml.Element("LastModifiedTime", FormatHttpDate(*object.if_match_last_modified));
    if (object.if_match_size) xml.Element("Size", std::to_string(*object.if_match_size));
    xml.Close("Object");
  }
  // Quiet mode: the response lists failures only.
  if (!request.list_deleted) xml.Element("Quiet", "true");
  xml.Close("Delete");
  return xml.Take();
}

Result<void> CheckObjects(const DeleteObjectsRequest& request) {
  const std::size_t count = request.keys.size() + request.objects.size();
  if (count == 0 || count > kMaxKeysToDelete) {
    return InvalidRequest("DeleteObjects takes 1 to 1000 keys, not " + std::to_string(count) +
                          "; split the list");
  }
  if (HasEmptyKey(request))
    return InvalidRequest("DeleteObjects was given an empty key; S3 keys have 1 to 1024 bytes");
  for (const ObjectToDelete& object : request.objects)
    PENSTOCK_TRY(CheckConditions(object, request.bucket));
  return Ok();
}

}  // namespace

bool HasEmptyKey(const DeleteObjectsRequest& request) {
  return std::ranges::any_of(request.keys, &ObjectKey::empty) ||
         std::ranges::any_of(request.objects,
                             [](const ObjectToDelete& object) { return object.key.empty(); });
}

Result<WireRequest> BuildRequest(const DeleteObjectsRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckObjects(request));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kDeleteObjects, request.bucket, context));
  wire.query.emplace_back("delete", "");
  wire.document = DeleteDocument(request);
  wire.headers.push_back({"Content-Type", "application/xml"});
  AppendBypass(request.bypass_governance_retention, wire);
  AppendDocumentChecksum(context, wire);
  return wire;
}

namespace {

// Adds a failure for each object of the request that the response does not name. Without Quiet, S3
// names all of them.
void AddUnconfirmed(const DeleteObjectsRequest& request, DeleteObjectsResponse& response) {
  std::unordered_set<std::string_view> named;
  for (const auto& deleted : response.deleted) named.insert(deleted.key.value);
  for (const auto& failure : response.failures) named.insert(failure.key.value);
  std::vector<const ObjectKey*> unconfirmed;
  const auto look = [&](const ObjectKey& key) {
    // XML cannot express most control characters.
    const bool has_control =
        std::ranges::any_of(key.value, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (!has_control && !named.contains(key.value)) unconfirmed.push_back(&key);
  };
  for (const ObjectKey& key : request.keys) look(key);
  for (const ObjectToDelete& object : request.objects) look(object.key);
  for (const ObjectKey* key : unconfirmed) {
    response.failures.push_back(
        {*key, "NotConfirmed", "the response does not name this key: it may exist or not", {}});
  }
}

}  // namespace

Result<DeleteObjectsResponse> ParseResponse(const DeleteObjectsRequest& request,
                                            const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "DeleteResult"));
  DeleteObjectsResponse out;
  for (const XmlElement& error : document.root().Children("Error")) {
    Error texts;
    texts.code = error.Child("Code").text();
    texts.message = error.Child("Message").text();
    LimitTexts(texts, response.secrets);
    if (response.after_unclear_attempt) texts.message += kUnclearAttemptNote;
    out.failures.push_back({ObjectKey(error.Child("Key").text()), std::move(texts.code),
                            std::move(texts.message), VersionId(error.Child("VersionId").text())});
  }
  for (const XmlElement& deleted : document.root().Children("Deleted")) {
    out.deleted.push_back({ObjectKey(deleted.Child("Key").text()),
                           VersionId(deleted.Child("VersionId").text()),
                           ReadFlag(deleted, "DeleteMarker"),
                           VersionId(deleted.Child("DeleteMarkerVersionId").text())});
  }
  if (request.list_deleted) AddUnconfirmed(request, out);
  return out;
}

}  // namespace penstock::s3
