#include "client/s3/verbs/request_start.h"

#include <utility>

#include "client/http/uri.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kMaxKeyBytes = 1024;
constexpr int kMaxPartNumber = 10'000;

Result<void> CheckNames(const BucketName& bucket, const ObjectKey& key) {
  if (bucket.empty()) return InvalidRequest("the bucket name is empty; give the name of a bucket");
  if (key.empty()) return InvalidRequest("the object key is empty; S3 keys have 1 to 1024 bytes");
  if (key.value.size() > kMaxKeyBytes) {
    return InvalidRequest("the object key has " + std::to_string(key.value.size()) +
                          " bytes of UTF-8; S3 allows at most 1024");
  }
  return Ok();
}

}  // namespace

Error InvalidRequest(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

WireRequest StartServiceRequest(Operation operation, const BuildContext& context) {
  WireRequest request;
  request.operation = operation;
  if (context.requester_pays && Info(operation).requester_pays) {
    request.headers.push_back({"x-amz-request-payer", "requester"});
  }
  return request;
}

Result<WireRequest> StartBucketRequest(Operation operation, const BucketName& bucket,
                                       const BuildContext& context) {
  if (bucket.empty()) return InvalidRequest("the bucket name is empty; give the name of a bucket");
  WireRequest request = StartServiceRequest(operation, context);
  request.bucket = bucket.value;
  return request;
}

Result<WireRequest> StartObjectRequest(Operation operation, const BucketName& bucket,
                                       const ObjectKey& key, const BuildContext& context) {
  PENSTOCK_TRY(CheckNames(bucket, key));
  WireRequest request = StartServiceRequest(operation, context);
  request.bucket = bucket.value;
  request.key = key.value;
  return request;
}

Result<void> CheckUploadId(const UploadId& upload_id) {
  if (upload_id.empty())
    return InvalidRequest("the upload id is empty; give the one CreateMultipartUpload returned");
  return Ok();
}

Result<void> CheckPartNumber(int part_number) {
  if (part_number < 1 || part_number > kMaxPartNumber) {
    return InvalidRequest("part number " + std::to_string(part_number) +
                          " is not within 1 to 10000");
  }
  return Ok();
}

Result<std::string> CopySource(const BucketName& bucket, const ObjectKey& key,
                               const VersionId& version) {
  PENSTOCK_TRY(CheckNames(bucket, key));
  // An access point's ARN.
  const std::string_view between = bucket.value.starts_with("arn:") ? "/object/" : "/";
  std::string source = http::EncodePath(bucket.value + std::string(between) + key.value);
  if (!version.empty()) source += "?versionId=" + http::EncodeQuery(version.value);
  return source;
}

}  // namespace penstock::s3
