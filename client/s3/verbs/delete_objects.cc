#include "client/s3/verbs/verbs.h"

#include <string>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/xml/xml.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/error_document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
Result<WireRequest> BuildRequest(const DeleteObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kDeleteObject, request.bucket,
                                                       request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  return wire;
}

namespace {

std::string DeleteDocument(const std::vector<ObjectKey>& keys) {
  XmlWriter xml;
  xml.Open("Delete", kXmlNamespace);
  for (const ObjectKey& key : keys) {
    xml.Open("Object");
    xml.Element("Key", key.value);
    xml.Close("Object");
  }
  xml.Element("Quiet", "true");
  xml.Close("Delete");
  return xml.Take();
}

}  // namespace

Result<WireRequest> BuildRequest(const DeleteObjectsRequest& request, const BuildContext& context) {
  if (request.keys.empty() || request.keys.size() > kMaxKeysToDelete) {
    return InvalidRequest("DeleteObjects takes 1 to 1000 keys, not " +
                          std::to_string(request.keys.size()) + "; split the list");
  }
  for (const ObjectKey& key : request.keys) {
    if (key.empty())
      return InvalidRequest("DeleteObjects was given an empty key; S3 keys have 1 to 1024 bytes");
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kDeleteObjects, request.bucket, context));
  wire.query.emplace_back("delete", "");
  wire.document = DeleteDocument(request.keys);
  wire.headers.push_back({"Content-Type", "application/xml"});
  // S3 requires a digest of the body for this operation. Directory buckets do not support MD5.
  if (context.upload_checksums || IsDirectoryBucket(request.bucket.value)) {
    wire.headers.push_back({kCrc64NvmeHeader, Crc64NvmeText(AsBytes(wire.document))});
  } else {
    wire.headers.push_back({"Content-MD5", Base64Encode(Md5(AsBytes(wire.document)))});
  }
  return wire;
}

Result<DeleteObjectsResponse> ParseResponse(const DeleteObjectsRequest&,
                                            const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "DeleteResult"));
  DeleteObjectsResponse out;
  for (const XmlElement& error : document.root().Children("Error")) {
    Error texts;
    texts.code = error.Child("Code").text();
    texts.message = error.Child("Message").text();
    LimitTexts(texts, response.secrets);
    out.failures.push_back(
        {ObjectKey(error.Child("Key").text()), std::move(texts.code), std::move(texts.message)});
  }
  return out;
}

}  // namespace penstock::s3
