// HeadObject: HEAD /{bucket}/{key}. Size, ETag, dates, user metadata, whole-object checksums.
#ifndef PENSTOCK_CLIENT_S3_VERBS_HEAD_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_HEAD_OBJECT_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const HeadObjectRequest& request, const BuildContext& context);
Result<ObjectMetadata> ParseResponse(const HeadObjectRequest& request,
                                     const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_HEAD_OBJECT_H_
