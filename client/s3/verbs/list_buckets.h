// ListBuckets: GET /. Lists all buckets of the caller's account.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_BUCKETS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_BUCKETS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListBucketsRequest& request, const BuildContext& context);
Result<ListBucketsResponse> ParseResponse(const ListBucketsRequest& request,
                                          const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_BUCKETS_H_
