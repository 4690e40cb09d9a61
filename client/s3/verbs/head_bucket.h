// HeadBucket: HEAD /{bucket}. Returns the bucket's region.
#ifndef PENSTOCK_CLIENT_S3_VERBS_HEAD_BUCKET_H_
#define PENSTOCK_CLIENT_S3_VERBS_HEAD_BUCKET_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const HeadBucketRequest& request, const BuildContext& context);
Result<HeadBucketResponse> ParseResponse(const HeadBucketRequest& request,
                                         const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_HEAD_BUCKET_H_
