// ListParts: GET /{bucket}/{key}?uploadId=.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_PARTS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_PARTS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListPartsRequest& request, const BuildContext& context);
Result<ListPartsResponse> ParseResponse(const ListPartsRequest& request,
                                        const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_PARTS_H_
