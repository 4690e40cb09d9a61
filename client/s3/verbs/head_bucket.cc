#include "client/s3/verbs/head_bucket.h"

#include <string>

#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const HeadBucketRequest& request, const BuildContext& context) {
  return StartBucketRequest(Operation::kHeadBucket, request.bucket, context);
}

Result<HeadBucketResponse> ParseResponse(const HeadBucketRequest&, const WireResponse& response) {
  return HeadBucketResponse{
      std::string(response.head.Find("x-amz-bucket-region").value_or(std::string_view{}))};
}

}  // namespace penstock::s3
