// The first lines of every BuildRequest: names checked, headers that all verbs share set.
#ifndef PENSTOCK_CLIENT_S3_REQUEST_START_H_
#define PENSTOCK_CLIENT_S3_REQUEST_START_H_

#include <string>
#include <string_view>

#include "client/s3/wire.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// A request without bucket.
WireRequest StartServiceRequest(Operation operation, const BuildContext& context);

// kInvalidArgument when the bucket name is empty.
Result<WireRequest> StartBucketRequest(Operation operation, const BucketName& bucket,
                                       const BuildContext& context);

// Also kInvalidArgument when the key is empty (it would address the bucket) or longer than 1024
// bytes.
Result<WireRequest> StartObjectRequest(Operation operation, const BucketName& bucket,
                                       const ObjectKey& key, const BuildContext& context);

// kInvalidArgument naming the value when the upload id is empty or the part number not within 1 to
// 10,000.
Result<void> CheckUploadId(const UploadId& upload_id);
Result<void> CheckPartNumber(int part_number);

// Value of x-amz-copy-source, percent-encoded; an empty version is the current one. Errors as
// StartObjectRequest.
Result<std::string> CopySource(const BucketName& bucket, const ObjectKey& key,
                               const VersionId& version = {});

// kInvalidArgument.
Error InvalidRequest(std::string message);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_REQUEST_START_H_
