// AbortMultipartUpload: DELETE /{bucket}/{key}?uploadId=.
#ifndef PENSTOCK_CLIENT_S3_VERBS_ABORT_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_S3_VERBS_ABORT_MULTIPART_UPLOAD_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const AbortMultipartUploadRequest& request,
                                 const BuildContext& context);
Result<NoResponse> ParseResponse(const AbortMultipartUploadRequest& request,
                                 const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_ABORT_MULTIPART_UPLOAD_H_
