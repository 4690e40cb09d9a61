// UploadPart: PUT /{bucket}/{key}?partNumber=&uploadId=. The checksum of the part is kept only if
// S3 confirmed it.
#ifndef PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_H_
#define PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const UploadPartRequest& request, const BuildContext& context);
Result<CompletedPart> ParseResponse(const UploadPartRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_UPLOAD_PART_H_
