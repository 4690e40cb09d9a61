// UploadPartCopy: PUT /{bucket}/{key}?partNumber=&uploadId= with x-amz-copy-source.
#ifndef PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_COPY_H_
#define PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_COPY_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const UploadPartCopyRequest& request, const BuildContext& context);
Result<CompletedPart> ParseResponse(const UploadPartCopyRequest& request,
                                    const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_COPY_H_
