#include "client/torch/s3_uri.h"

namespace penstock::torch {

Result<S3Uri> ParseS3Uri(std::string_view uri) {
  constexpr std::string_view kScheme = "s3://";
  const std::string_view rest =
      uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : std::string_view();
  const std::size_t slash = rest.find('/');
  const std::string_view bucket = rest.substr(0, slash);
  if (bucket.empty()) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "'" + std::string(uri) + "' is not an S3 URI; use s3://bucket/key");
  }
  const std::string_view path =
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return S3Uri{BucketName(std::string(bucket)), std::string(path)};
}

Result<S3Uri> ParseObjectUri(std::string_view uri) {
  PENSTOCK_ASSIGN(S3Uri place, ParseS3Uri(uri));
  if (!place.path.empty()) return place;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "'" + std::string(uri) + "' has no object key; use s3://bucket/key");
}

}  // namespace penstock::torch
