#include "client/s3/verbs/copy_object.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CopyObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(std::string source,
                  CopySource(request.source_bucket, request.source_key, request.source_version_id));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kCopyObject, request.bucket, request.key, context));
  wire.headers.push_back({"x-amz-copy-source", std::move(source)});
  if (request.source_if_match) {
    wire.headers.push_back({"x-amz-copy-source-if-match", QuoteETag(*request.source_if_match)});
  }
  return wire;
}

Result<CopyObjectResponse> ParseResponse(const CopyObjectRequest&, const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "CopyObjectResult"));
  const XmlElement root = document.root();
  CopyObjectResponse copied{
      ReadETag(root.Child("ETag").text()), ReadTime(root, "LastModified"), {}};
  if (const auto version = response.head.Find("x-amz-version-id"))
    copied.version_id = VersionId(std::string(*version));
  return copied;
}

}  // namespace penstock::s3
