// CreateMultipartUpload: POST /{bucket}/{key}?uploads. Declares a FULL_OBJECT CRC64NVME if uploads
// carry checksums.
#ifndef PENSTOCK_CLIENT_S3_VERBS_CREATE_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_S3_VERBS_CREATE_MULTIPART_UPLOAD_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CreateMultipartUploadRequest& request,
                                 const BuildContext& context);
Result<CreateMultipartUploadResponse> ParseResponse(const CreateMultipartUploadRequest& request,
                                                    const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_CREATE_MULTIPART_UPLOAD_H_
