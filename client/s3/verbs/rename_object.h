// RenameObject: PUT /{new key}?renameObject, for directory buckets.
#ifndef PENSTOCK_CLIENT_S3_VERBS_RENAME_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_RENAME_OBJECT_H_

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/directory_bucket.h"

namespace penstock::s3 {

// `request.client_token` must be set: all attempts of a call use the same token.
Result<WireRequest> BuildRequest(const RenameObjectRequest& request, const BuildContext& context);
Result<NoResponse> ParseResponse(const RenameObjectRequest& request, const WireResponse& response);

// Returns kUnsupported with the bucket and `instead` unless it is a directory bucket.
Result<void> CheckDirectoryBucket(std::string_view operation, const BucketName& bucket,
                                  std::string_view instead);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_RENAME_OBJECT_H_
