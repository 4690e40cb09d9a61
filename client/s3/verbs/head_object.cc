#include "client/s3/verbs/head_object.h"

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const HeadObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kHeadObject, request.bucket, request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (context.verify_downloads) wire.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
  return wire;
}

Result<ObjectMetadata> ParseResponse(const HeadObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNamesObject(response.head));
  ObjectMetadata metadata = ReadMetadata(response.head);
  const auto length = ReadContentLength(response.head);
  if (!length) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the response has no Content-Length, so the object's size is unknown");
  }
  metadata.size = *length;
  return metadata;
}

}  // namespace penstock::s3
