// CreateBucket: PUT /{bucket}, in the client's region. A directory bucket is created in the zone of
// its name.
#ifndef PENSTOCK_CLIENT_S3_VERBS_CREATE_BUCKET_H_
#define PENSTOCK_CLIENT_S3_VERBS_CREATE_BUCKET_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// Returns kInvalidArgument for an access point of a directory bucket: another service creates
// those.
Result<void> CheckNoAccessPoint(Operation operation, const BucketName& bucket);

Result<WireRequest> BuildRequest(const CreateBucketRequest& request, const BuildContext& context);
Result<NoResponse> ParseResponse(const CreateBucketRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_CREATE_BUCKET_H_
