// Parses "s3://bucket/key".
#ifndef PENSTOCK_CLIENT_TORCH_S3_URI_H_
#define PENSTOCK_CLIENT_TORCH_S3_URI_H_

#include <string>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::torch {

struct S3Uri {
  BucketName bucket;
  std::string path;  // Key or prefix, not decoded.
};

// Accepts "s3://bucket", "s3://bucket/" and "s3://bucket/any/thing". Returns kInvalidArgument for
// anything else.
Result<S3Uri> ParseS3Uri(std::string_view uri);
// The same, and requires a key.
Result<S3Uri> ParseObjectUri(std::string_view uri);

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_S3_URI_H_
