// What each verb is: wire name, method, how a repeat behaves, which statuses mean success.
//
// The one table of verbs. Not for how a request is built (verbs/) or sent (dispatcher.h).
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

// What a repeat may meet when an earlier attempt was carried out but its answer got lost. Every
// class is retried.
enum class RetryClass : std::uint8_t {
  kRead,        // changes nothing
  kIdempotent,  // the same state, the same answer
  // answered with `already_done_code` because the lost attempt had done the work: counts as success
  kAlreadyDoneIsSuccess,
  kAmbiguous,  // may leave a second upload or find it already completed: the final error says so
};

struct OperationInfo {
  Operation operation;
  std::string_view name;    // as in AWS's model; the operation of errors, events and counters
  std::string_view method;  // HTTP
  RetryClass retry_class;
  std::array<int, 2> success;          // HTTP statuses; the second may repeat the first
  bool requester_pays;                 // takes x-amz-request-payer
  std::string_view already_done_code;  // for kAlreadyDoneIsSuccess
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
