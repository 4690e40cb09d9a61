// DeleteObjects: POST /{bucket}?delete in quiet mode: the response lists failures only. 1 to 1000
// keys.
#ifndef PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECTS_H_
#define PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECTS_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

constexpr std::size_t kMaxKeysToDelete = 1000;

Result<WireRequest> BuildRequest(const DeleteObjectsRequest& request, const BuildContext& context);
Result<DeleteObjectsResponse> ParseResponse(const DeleteObjectsRequest& request,
                                            const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_DELETE_OBJECTS_H_
