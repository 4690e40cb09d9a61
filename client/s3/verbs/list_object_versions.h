// ListObjectVersions: GET /{bucket}?versions. Names are URL-encoded on the wire and decoded here.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECT_VERSIONS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECT_VERSIONS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListObjectVersionsRequest& request,
                                 const BuildContext& context);
Result<ListObjectVersionsResponse> ParseResponse(const ListObjectVersionsRequest& request,
                                                 const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_OBJECT_VERSIONS_H_
