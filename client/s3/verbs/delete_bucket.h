// DeleteBucket: DELETE /{bucket}. The bucket must be empty.
#ifndef PENSTOCK_CLIENT_S3_VERBS_DELETE_BUCKET_H_
#define PENSTOCK_CLIENT_S3_VERBS_DELETE_BUCKET_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const DeleteBucketRequest& request, const BuildContext& context);
Result<NoResponse> ParseResponse(const DeleteBucketRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_DELETE_BUCKET_H_
