// DeleteObject: DELETE /{bucket}/{key}. Deleting an absent key succeeds.
#ifndef PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECT_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const DeleteObjectRequest& request, const BuildContext& context);
Result<NoResponse> ParseResponse(const DeleteObjectRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECT_H_
