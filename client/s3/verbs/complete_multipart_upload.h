// CompleteMultipartUpload: POST /{bucket}/{key}?uploadId=. A 200 may still contain an <Error>.
#ifndef PENSTOCK_CLIENT_S3_VERBS_COMPLETE_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_S3_VERBS_COMPLETE_MULTIPART_UPLOAD_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CompleteMultipartUploadRequest& request,
                                 const BuildContext& context);
Result<PutObjectResponse> ParseResponse(const CompleteMultipartUploadRequest& request,
                                        const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_COMPLETE_MULTIPART_UPLOAD_H_
