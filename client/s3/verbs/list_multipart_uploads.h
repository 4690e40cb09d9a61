// ListMultipartUploads: GET /{bucket}?uploads. Names are URL-encoded on the wire and decoded here.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LIST_MULTIPART_UPLOADS_H_
#define PENSTOCK_CLIENT_S3_VERBS_LIST_MULTIPART_UPLOADS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListMultipartUploadsRequest& request,
                                 const BuildContext& context);
Result<ListMultipartUploadsResponse> ParseResponse(const ListMultipartUploadsRequest& request,
                                                   const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LIST_MULTIPART_UPLOADS_H_
