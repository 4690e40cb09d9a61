#include "client/s3/verbs/delete_object.h"

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const DeleteObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kDeleteObject, request.bucket,
                                                       request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  return wire;
}

Result<NoResponse> ParseResponse(const DeleteObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

}  // namespace penstock::s3
