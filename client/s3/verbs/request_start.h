// The start of every BuildRequest: checks names and sets the headers that all operations share.
#ifndef PENSTOCK_CLIENT_S3_VERBS_REQUEST_START_H_
#define PENSTOCK_CLIENT_S3_VERBS_REQUEST_START_H_

#include <string>
#include <string_view>

#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// Starts a request without a bucket.
WireRequest StartServiceRequest(Operation operation, const BuildContext& context);

// Returns kInvalidArgument if the bucket name is empty.
Result<WireRequest> StartBucketRequest(Operation operation, const BucketName& bucket,
                                       const BuildContext& context);

// Also returns kInvalidArgument if the key is empty, because the request would address the bucket,
// or longer than 1024 bytes.
Result<WireRequest> StartObjectRequest(Operation operation, const BucketName& bucket,
                                       const ObjectKey& key, const BuildContext& context);

// Return kInvalidArgument with the value if the upload id is empty or the part number is outside 1
// to 10,000.
Result<void> CheckUploadId(const UploadId& upload_id);
Result<void> CheckPartNumber(int part_number);

// Returns the value of x-amz-copy-source, percent-encoded. An empty version means the current one.
// Errors as in StartObjectRequest.
Result<std::string> CopySource(const BucketName& bucket, const ObjectKey& key,
                               const VersionId& version = {});

// Returns a kInvalidArgument error.
Error InvalidRequest(std::string message);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_REQUEST_START_H_
