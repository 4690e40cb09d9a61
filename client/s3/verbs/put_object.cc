#include "client/s3/verbs/put_object.h"

#include <string>
#include <utility>

#include "client/s3/body_checksum.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const PutObjectRequest& request, const BuildContext& context) {
  if (request.body == nullptr) return InvalidRequest("PutObject needs a body");
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest("PutObject takes either if_match or if_none_match_any, not both");
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kPutObject, request.bucket, request.key, context));
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire.headers));
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match_any) wire.headers.push_back({"If-None-Match", "*"});
  if (context.upload_checksums) {
    PENSTOCK_ASSIGN(std::string checksum, Crc64NvmeText(*request.body));
    wire.headers.push_back({kCrc64NvmeHeader, std::move(checksum)});
  }
  wire.source = request.body;
  return wire;
}

Result<PutObjectResponse> ParseResponse(const PutObjectRequest&, const WireResponse& response) {
  ObjectMetadata metadata = ReadMetadata(response.head);
  return PutObjectResponse{std::move(metadata.etag), std::move(metadata.version_id)};
}

}  // namespace penstock::s3
