// The table of operations: everything that the client knows about an operation, except how to build
// its request and parse its response (verbs/verbs.h).
#ifndef PENSTOCK_CLIENT_S3_MODEL_OPERATIONS_H_
#define PENSTOCK_CLIENT_S3_MODEL_OPERATIONS_H_

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
  kGetBucketConfiguration,
  kPutBucketConfiguration,
  kDeleteBucketConfiguration,
  kGetObjectConfiguration,
  kPutObjectConfiguration,
  kDeleteObjectConfiguration,
  kRestoreObject,
  kGetObjectAttributes,
};
inline constexpr std::size_t kOperationCount = 30;

// The effect of a repeated request if an earlier attempt was executed but its response was lost.
// All classes are retried.
enum class RetryClass : std::uint8_t {
  kRead,        // Changes nothing.
  kIdempotent,  // Same state, same response.
  // S3 returns `already_done_code` because the lost attempt was executed; this counts as success.
  kAlreadyDoneIsSuccess,
  kAmbiguous,  // May create a second upload or find it completed; the final error says so.
};

// Static context parameters of an operation for the endpoint rules, from AWS's S3 service model.
struct OperationRules {
  bool express_control = false;  // On a directory bucket itself: regional endpoint, no session.
  // Never signed with a session, although the request goes to the bucket's zone.
  bool plain_auth = false;
  bool no_access_points = false;  // Not supported for access points.
  bool object_lambda = false;     // Goes to S3 Object Lambda itself.
  // S3 Accelerate serves objects only. The caller of the rules must check this.
  bool never_accelerated = false;

  friend bool operator==(const OperationRules&, const OperationRules&) = default;
};

struct OperationInfo {
  Operation operation;
  // As in AWS's service model; used in errors, events and counters. "Configuration" stands for all
  // sub-resources of a bucket or an object, such as lifecycle or tagging; errors have the exact
  // name (WireRequest::operation_name).
  std::string_view name;
  std::string_view method;  // HTTP method.
  RetryClass retry_class;
  bool requester_pays = false;  // Accepts x-amz-request-payer.
  OperationRules rules = {};
  std::array<int, 2> success = {200, 200};  // HTTP statuses; may be equal.
  std::string_view already_done_code = {};  // For kAlreadyDoneIsSuccess.
  // Follows neither a redirect to another region nor a region learned for the bucket's name: the
  // request body names the configured region.
  bool in_configured_region = false;

  // S3 may need minutes for a success, during which it keeps the response open with white space.
  constexpr bool may_take_minutes() const {
    return operation == Operation::kCopyObject || operation == Operation::kUploadPartCopy ||
           operation == Operation::kCompleteMultipartUpload;
  }
  constexpr bool reads() const { return retry_class == RetryClass::kRead; }
  constexpr bool takes_body() const { return method == "PUT" || method == "POST"; }
  // An error response has no body, so no code.
  constexpr bool has_bare_errors() const { return method == "HEAD"; }
};

// Control operations use `plain_auth` too: for a custom endpoint the rule set would request a
// session for a bucket that may not exist yet.
inline constexpr std::array<OperationInfo, kOperationCount> kOperations = [] {
  using enum Operation;
  using enum RetryClass;
  constexpr bool kPayer = true;
  constexpr bool kNoPayer = false;
  constexpr std::array<int, 2> kDeleted = {204, 200};
  constexpr std::array<int, 2> kStored = {200, 204};
  constexpr OperationRules kSignedByClient = {.plain_auth = true};
  constexpr OperationRules kControl = {
      .express_control = true, .plain_auth = true, .never_accelerated = true};
  constexpr OperationRules kCreation = {.express_control = true,
                                        .plain_auth = true,
                                        .no_access_points = true,
                                        .never_accelerated = true};
  return std::array<OperationInfo, kOperationCount>{{
      {kGetObject, "GetObject", "GET", kRead, kPayer, {}, {200, 206}},
      {kHeadObject, "HeadObject", "HEAD", kRead, kPayer, {}, {200, 206}},
      {kPutObject, "PutObject", "PUT", kIdempotent, kPayer},
      {kDeleteObject, "DeleteObject", "DELETE", kIdempotent, kPayer, {}, kDeleted},
      {kDeleteObjects, "DeleteObjects", "POST", kIdempotent, kPayer},
      {kCopyObject, "CopyObject", "PUT", kIdempotent, kPayer, kSignedByClient},
      {kListObjectsV2, "ListObjectsV2", "GET", kRead, kPayer},
      {kListObjectVersions, "ListObjectVersions", "GET", kRead, kPayer},
      {kCreateMultipartUpload, "CreateMultipartUpload", "POST", kAmbiguous, kPayer},
      {kUploadPart, "UploadPart", "PUT", kIdempotent, kPayer},
      {kUploadPartCopy, "UploadPartCopy", "PUT", kIdempotent, kPayer, kSignedByClient},
      {kCompleteMultipartUpload, "CompleteMultipartUpload", "POST", kAmbiguous, kPayer},
      {kAbortMultipartUpload,
       "AbortMultipartUpload",
       "DELETE",
       kAlreadyDoneIsSuccess,
       kPayer,
       {},
       kDeleted,
       "NoSuchUpload"},
      {kListParts, "ListParts", "GET", kRead, kPayer},
      {kListMultipartUploads, "ListMultipartUploads", "GET", kRead, kPayer},
      {kCreateBucket,
       "CreateBucket",
       "PUT",
       kAlreadyDoneIsSuccess,
       kNoPayer,
       kCreation,
       {200, 200},
       "BucketAlreadyOwnedByYou",
       true},
      {kHeadBucket, "HeadBucket", "HEAD", kRead},
      {kDeleteBucket, "DeleteBucket", "DELETE", kAlreadyDoneIsSuccess, kNoPayer, kControl, kDeleted,
       "NoSuchBucket"},
      {kListBuckets, "ListBuckets", "GET", kRead, kNoPayer, {.never_accelerated = true}},
      {kCreateSession, "CreateSession", "GET", kRead, kNoPayer, kSignedByClient},
      {kListDirectoryBuckets, "ListDirectoryBuckets", "GET", kRead, kNoPayer, kControl},
      {kRenameObject, "RenameObject", "PUT", kIdempotent},
      {kGetBucketConfiguration, "GetBucketConfiguration", "GET", kRead, kNoPayer, kControl},
      {kPutBucketConfiguration, "PutBucketConfiguration", "PUT", kIdempotent, kNoPayer, kControl,
       kStored},
      {kDeleteBucketConfiguration, "DeleteBucketConfiguration", "DELETE", kIdempotent, kNoPayer,
       kControl, kDeleted},
      {kGetObjectConfiguration, "GetObjectConfiguration", "GET", kRead, kPayer},
      {kPutObjectConfiguration, "PutObjectConfiguration", "PUT", kIdempotent, kPayer, {}, kStored},
      {kDeleteObjectConfiguration,
       "DeleteObjectConfiguration",
       "DELETE",
       kIdempotent,
       kNoPayer,
       {},
       kDeleted},
      {kRestoreObject,
       "RestoreObject",
       "POST",
       kAlreadyDoneIsSuccess,
       kPayer,
       {},
       {202, 200},
       "RestoreAlreadyInProgress"},
      {kGetObjectAttributes, "GetObjectAttributes", "GET", kRead, kPayer},
  }};
}();

constexpr const OperationInfo& Info(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

// Returns whether the operation accepts x-amz-expected-bucket-owner.
constexpr bool TakesBucketOwner(Operation operation) {
  using enum Operation;
  return operation != kCreateBucket && operation != kListBuckets && operation != kCreateSession &&
         operation != kListDirectoryBuckets && operation != kRenameObject;
}

constexpr bool IsSuccess(const OperationInfo& info, int status) {
  return status == info.success[0] || status == info.success[1];
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_MODEL_OPERATIONS_H_
