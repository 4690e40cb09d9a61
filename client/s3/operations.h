// The table of operations: wire name, method, behaviour of a repeated request, success statuses.
//
// verbs/ builds the requests and dispatcher.h sends them.
#ifndef PENSTOCK_CLIENT_S3_OPERATIONS_H_
#define PENSTOCK_CLIENT_S3_OPERATIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::s3 {

enum class Operation : std::uint8_t {
  kGetObject,
  kHeadObject,
  kPutObject,
  kDeleteObject,
  kDeleteObjects,
  kCopyObject,
  kListObjectsV2,
  kListObjectVersions,
  kCreateMultipartUpload,
  kUploadPart,
  kUploadPartCopy,
  kCompleteMultipartUpload,
  kAbortMultipartUpload,
  kListParts,
  kListMultipartUploads,
  kCreateBucket,
  kHeadBucket,
  kDeleteBucket,
  kListBuckets,
  kCreateSession,
  kListDirectoryBuckets,
  kRenameObject,
};
inline constexpr std::size_t kOperationCount = 22;

// The effect of a repeated request if an earlier attempt was executed but its response was lost.
// All classes are retried.
enum class RetryClass : std::uint8_t {
  kRead,        // Changes nothing.
  kIdempotent,  // Same state, same response.
  // S3 returns `already_done_code` because the lost attempt was executed; this counts as success.
  kAlreadyDoneIsSuccess,
  kAmbiguous,  // May create a second upload or find it completed; the final error says so.
};

struct OperationInfo {
  Operation operation;
  std::string_view name;    // As in AWS's service model; used in errors, events and counters.
  std::string_view method;  // HTTP method.
  RetryClass retry_class;
  std::array<int, 2> success;          // HTTP statuses; may be equal.
  bool requester_pays;                 // Accepts x-amz-request-payer.
  std::string_view already_done_code;  // For kAlreadyDoneIsSuccess.
};

inline constexpr std::array<OperationInfo, kOperationCount> kOperations = {{
    {Operation::kGetObject, "GetObject", "GET", RetryClass::kRead, {200, 206}, true, {}},
    {Operation::kHeadObject, "HeadObject", "HEAD", RetryClass::kRead, {200, 200}, true, {}},
    {Operation::kPutObject, "PutObject", "PUT", RetryClass::kIdempotent, {200, 200}, true, {}},
    {Operation::kDeleteObject,
     "DeleteObject",
     "DELETE",
     RetryClass::kIdempotent,
     {204, 200},
     true,
     {}},
    {Operation::kDeleteObjects,
     "DeleteObjects",
     "POST",
     RetryClass::kIdempotent,
     {200, 200},
     true,
     {}},
    {Operation::kCopyObject, "CopyObject", "PUT", RetryClass::kIdempotent, {200, 200}, true, {}},
    {Operation::kListObjectsV2, "ListObjectsV2", "GET", RetryClass::kRead, {200, 200}, true, {}},
    {Operation::kListObjectVersions,
     "ListObjectVersions",
     "GET",
     RetryClass::kRead,
     {200, 200},
     true,
     {}},
    {Operation::kCreateMultipartUpload,
     "CreateMultipartUpload",
     "POST",
     RetryClass::kAmbiguous,
     {200, 200},
     true,
     {}},
    {Operation::kUploadPart, "UploadPart", "PUT", RetryClass::kIdempotent, {200, 200}, true, {}},
    {Operation::kUploadPartCopy,
     "UploadPartCopy",
     "PUT",
     RetryClass::kIdempotent,
     {200, 200},
     true,
     {}},
    {Operation::kCompleteMultipartUpload,
     "CompleteMultipartUpload",
     "POST",
     RetryClass::kAmbiguous,
     {200, 200},
     true,
     {}},
    {Operation::kAbortMultipartUpload,
     "AbortMultipartUpload",
     "DELETE",
     RetryClass::kAlreadyDoneIsSuccess,
     {204, 200},
     true,
     "NoSuchUpload"},
    {Operation::kListParts, "ListParts", "GET", RetryClass::kRead, {200, 200}, true, {}},
    {Operation::kListMultipartUploads,
     "ListMultipartUploads",
     "GET",
     RetryClass::kRead,
     {200, 200},
     true,
     {}},
    {Operation::kCreateBucket,
     "CreateBucket",
     "PUT",
     RetryClass::kAlreadyDoneIsSuccess,
     {200, 200},
     false,
     "BucketAlreadyOwnedByYou"},
    {Operation::kHeadBucket, "HeadBucket", "HEAD", RetryClass::kRead, {200, 200}, false, {}},
    {Operation::kDeleteBucket,
     "DeleteBucket",
     "DELETE",
     RetryClass::kAlreadyDoneIsSuccess,
     {204, 200},
     false,
     "NoSuchBucket"},
    {Operation::kListBuckets, "ListBuckets", "GET", RetryClass::kRead, {200, 200}, false, {}},
    {Operation::kCreateSession, "CreateSession", "GET", RetryClass::kRead, {200, 200}, false, {}},
    {Operation::kListDirectoryBuckets,
     "ListDirectoryBuckets",
     "GET",
     RetryClass::kRead,
     {200, 200},
     false,
     {}},
    {Operation::kRenameObject,
     "RenameObject",
     "PUT",
     RetryClass::kIdempotent,
     {200, 200},
     false,
     {}},
}};

constexpr const OperationInfo& Info(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

constexpr bool IsSuccess(const OperationInfo& info, int status) {
  return status == info.success[0] || status == info.success[1];
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_OPERATIONS_H_
