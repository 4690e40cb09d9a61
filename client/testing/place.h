// The operation, bucket and key of each request, for errors and hooks.
#ifndef PENSTOCK_CLIENT_TESTING_PLACE_H_
#define PENSTOCK_CLIENT_TESTING_PLACE_H_

#include <string_view>
#include <type_traits>

#include "penstock/object_store.h"

namespace penstock::testing {

// Views into the request, except `operation`, which lives forever.
struct Place {
  std::string_view operation;
  std::string_view bucket;
  std::string_view key;
};

constexpr std::string_view OperationOf(const GetObjectRequest&) { return "GetObject"; }
constexpr std::string_view OperationOf(const HeadObjectRequest&) { return "HeadObject"; }
constexpr std::string_view OperationOf(const PutObjectRequest&) { return "PutObject"; }
constexpr std::string_view OperationOf(const DeleteObjectRequest&) { return "DeleteObject"; }
constexpr std::string_view OperationOf(const DeleteObjectsRequest&) { return "DeleteObjects"; }
constexpr std::string_view OperationOf(const CopyObjectRequest&) { return "CopyObject"; }
constexpr std::string_view OperationOf(const ListObjectsRequest&) { return "ListObjectsV2"; }
constexpr std::string_view OperationOf(const ListObjectVersionsRequest&) {
  return "ListObjectVersions";
}
constexpr std::string_view OperationOf(const CreateMultipartUploadRequest&) {
  return "CreateMultipartUpload";
}
constexpr std::string_view OperationOf(const UploadPartRequest&) { return "UploadPart"; }
constexpr std::string_view OperationOf(const UploadPartCopyRequest&) { return "UploadPartCopy"; }
constexpr std::string_view OperationOf(const CompleteMultipartUploadRequest&) {
  return "CompleteMultipartUpload";
}
constexpr std::string_view OperationOf(const AbortMultipartUploadRequest&) {
  return "AbortMultipartUpload";
}
constexpr std::string_view OperationOf(const ListPartsRequest&) { return "ListParts"; }
constexpr std::string_view OperationOf(const ListMultipartUploadsRequest&) {
  return "ListMultipartUploads";
}
constexpr std::string_view OperationOf(const CreateBucketRequest&) { return "CreateBucket"; }
constexpr std::string_view OperationOf(const HeadBucketRequest&) { return "HeadBucket"; }
constexpr std::string_view OperationOf(const DeleteBucketRequest&) { return "DeleteBucket"; }
constexpr std::string_view OperationOf(const ListBucketsRequest&) { return "ListBuckets"; }

template <class Request>
Place PlaceOf(const Request& request) {
  Place place{OperationOf(request), {}, {}};
  if constexpr (requires { request.bucket.value; }) place.bucket = request.bucket.value;
  if constexpr (requires { request.key.value; }) place.key = request.key.value;
  return place;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_CLIENT_TESTING_PLACE_H_
