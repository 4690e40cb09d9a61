#include "client/s3/verbs/abort_multipart_upload.h"

#include "client/s3/document.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const AbortMultipartUploadRequest& request,
                                 const BuildContext& context) {
  // Without an id the request would be DeleteObject.
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kAbortMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  return wire;
}

Result<NoResponse> ParseResponse(const AbortMultipartUploadRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

}  // namespace penstock::s3
