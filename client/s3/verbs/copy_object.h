// CopyObject: PUT /{bucket}/{key} with x-amz-copy-source. Metadata is copied too.
#ifndef PENSTOCK_CLIENT_S3_VERBS_COPY_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_COPY_OBJECT_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CopyObjectRequest& request, const BuildContext& context);
Result<CopyObjectResponse> ParseResponse(const CopyObjectRequest& request,
                                         const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_COPY_OBJECT_H_
