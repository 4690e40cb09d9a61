// ListDirectoryBuckets: GET / of the region's S3 Express control endpoint.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_DIRECTORY_BUCKETS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_DIRECTORY_BUCKETS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/directory_bucket.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListDirectoryBucketsRequest& request,
                                 const BuildContext& context);
Result<ListDirectoryBucketsResponse> ParseResponse(const ListDirectoryBucketsRequest& request,
                                                   const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_DIRECTORY_BUCKETS_H_
