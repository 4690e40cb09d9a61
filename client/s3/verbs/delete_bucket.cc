#include "client/s3/verbs/delete_bucket.h"

#include "client/s3/document.h"
#include "client/s3/request_start.h"
#include "client/s3/verbs/create_bucket.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const DeleteBucketRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckNoAccessPoint(Operation::kDeleteBucket, request.bucket));
  return StartBucketRequest(Operation::kDeleteBucket, request.bucket, context);
}

Result<NoResponse> ParseResponse(const DeleteBucketRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

}  // namespace penstock::s3
