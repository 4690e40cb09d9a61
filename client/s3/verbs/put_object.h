// PutObject: PUT /{bucket}/{key}. Sends the CRC64NVME of the body as a header if uploads carry
// checksums.
#ifndef PENSTOCK_CLIENT_S3_VERBS_PUT_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_PUT_OBJECT_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const PutObjectRequest& request, const BuildContext& context);
Result<PutObjectResponse> ParseResponse(const PutObjectRequest& request,
                                        const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_PUT_OBJECT_H_
