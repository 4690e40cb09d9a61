// ListObjectsV2: GET /{bucket}?list-type=2. Names are URL-encoded on the wire and decoded here.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECTS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECTS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListObjectsRequest& request, const BuildContext& context);
Result<ListObjectsResponse> ParseResponse(const ListObjectsRequest& request,
                                          const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECTS_H_
