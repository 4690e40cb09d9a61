#include "emulator/s3/authorization/actions.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/protocol/directory_names.h"

namespace penstock::emulator::s3 {
namespace {

struct Row {
  std::string_view operation;
  std::string_view action;
  std::string_view of_version = {};  // If the request has versionId. Empty: the same.
};

// The most frequent come first, to end the search early.
constexpr Row kRows[] = {
    {"GetObject", "s3:GetObject", "s3:GetObjectVersion"},
    {"PutObject", "s3:PutObject"},
    {"HeadObject", "s3:GetObject", "s3:GetObjectVersion"},
    {"DeleteObject", "s3:DeleteObject", "s3:DeleteObjectVersion"},
    {"ListObjectsV2", "s3:ListBucket"},
    {"ListObjects", "s3:ListBucket"},
    {"UploadPart", "s3:PutObject"},
    {"CreateMultipartUpload", "s3:PutObject"},
    {"CompleteMultipartUpload", "s3:PutObject"},
    {"AbortMultipartUpload", "s3:AbortMultipartUpload"},
    {"HeadBucket", "s3:ListBucket"},
    {"CopyObject", "s3:PutObject"},
    {"UploadPartCopy", "s3:PutObject"},
    {"PostObject", "s3:PutObject"},
    {"ListObjectVersions", "s3:ListBucketVersions"},
    {"ListMultipartUploads", "s3:ListBucketMultipartUploads"},
    {"ListParts", "s3:ListMultipartUploadParts"},
    {"GetObjectAttributes", "s3:GetObject", "s3:GetObjectVersion"},
    {"GetObjectTagging", "s3:GetObjectTagging", "s3:GetObjectVersionTagging"},
    {"PutObjectTagging", "s3:PutObjectTagging", "s3:PutObjectVersionTagging"},
    {"DeleteObjectTagging", "s3:DeleteObjectTagging", "s3:DeleteObjectVersionTagging"},
    {"GetObjectAcl", "s3:GetObjectAcl", "s3:GetObjectVersionAcl"},
    {"PutObjectAcl", "s3:PutObjectAcl", "s3:PutObjectVersionAcl"},
    {"GetObjectRetention", "s3:GetObjectRetention"},
    {"PutObjectRetention", "s3:PutObjectRetention"},
    {"GetObjectLegalHold", "s3:GetObjectLegalHold"},
    {"PutObjectLegalHold", "s3:PutObjectLegalHold"},
    {"GetObjectTorrent", "s3:GetObjectTorrent", "s3:GetObjectVersionTorrent"},
    {"RestoreObject", "s3:RestoreObject"},
    {"SelectObjectContent", "s3:GetObject"},
    {"UpdateObjectEncryption", "s3:UpdateObjectEncryption"},
    {"ListBuckets", "s3:ListAllMyBuckets"},
    {"CreateBucket", "s3:CreateBucket"},
    {"DeleteBucket", "s3:DeleteBucket"},
    {"GetBucketLocation", "s3:GetBucketLocation"},
    {"GetBucketVersioning", "s3:GetBucketVersioning"},
    {"PutBucketVersioning", "s3:PutBucketVersioning"},
    {"GetBucketAcl", "s3:GetBucketAcl"},
    {"PutBucketAcl", "s3:PutBucketAcl"},
    {"GetBucketAbac", "s3:GetBucketAbac"},
    {"PutBucketAbac", "s3:PutBucketAbac"},
    {"GetBucketAccelerateConfiguration", "s3:GetAccelerateConfiguration"},
    {"PutBucketAccelerateConfiguration", "s3:PutAccelerateConfiguration"},
    {"DeleteBucketAnalyticsConfiguration", "s3:PutAnalyticsConfiguration"},
    {"GetBucketAnalyticsConfiguration", "s3:GetAnalyticsConfiguration"},
    {"ListBucketAnalyticsConfigurations", "s3:GetAnalyticsConfiguration"},
    {"PutBucketAnalyticsConfiguration", "s3:PutAnalyticsConfiguration"},
    {"DeleteBucketCors", "s3:PutBucketCORS"},
    {"GetBucketCors", "s3:GetBucketCORS"},
    {"PutBucketCors", "s3:PutBucketCORS"},
    {"DeleteBucketEncryption", "s3:PutEncryptionConfiguration"},
    {"GetBucketEncryption", "s3:GetEncryptionConfiguration"},
    {"PutBucketEncryption", "s3:PutEncryptionConfiguration"},
    {"DeleteBucketIntelligentTieringConfiguration", "s3:PutIntelligentTieringConfiguration"},
    {"GetBucketIntelligentTieringConfiguration", "s3:GetIntelligentTieringConfiguration"},
    {"ListBucketIntelligentTieringConfigurations", "s3:GetIntelligentTieringConfiguration"},
    {"PutBucketIntelligentTieringConfiguration", "s3:PutIntelligentTieringConfiguration"},
    {"DeleteBucketInventoryConfiguration", "s3:PutInventoryConfiguration"},
    {"GetBucketInventoryConfiguration", "s3:GetInventoryConfiguration"},
    {"ListBucketInventoryConfigurations", "s3:GetInventoryConfiguration"},
    {"PutBucketInventoryConfiguration", "s3:PutInventoryConfiguration"},
    {"DeleteBucketLifecycle", "s3:PutLifecycleConfiguration"},
    {"GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration"},
    {"PutBucketLifecycleConfiguration", "s3:PutLifecycleConfiguration"},
    {"GetBucketLogging", "s3:GetBucketLogging"},
    {"PutBucketLogging", "s3:PutBucketLogging"},
    {"DeleteBucketMetricsConfiguration", "s3:PutMetricsConfiguration"},
    {"GetBucketMetricsConfiguration", "s3:GetMetricsConfiguration"},
    {"ListBucketMetricsConfigurations", "s3:GetMetricsConfiguration"},
    {"PutBucketMetricsConfiguration", "s3:PutMetricsConfiguration"},
    {"GetBucketNotificationConfiguration", "s3:GetBucketNotification"},
    {"PutBucketNotificationConfiguration", "s3:PutBucketNotification"},
    {"GetObjectLockConfiguration", "s3:GetBucketObjectLockConfiguration"},
    {"PutObjectLockConfiguration", "s3:PutBucketObjectLockConfiguration"},
    {"DeleteBucketOwnershipControls", "s3:PutBucketOwnershipControls"},
    {"GetBucketOwnershipControls", "s3:GetBucketOwnershipControls"},
    {"PutBucketOwnershipControls", "s3:PutBucketOwnershipControls"},
    {"DeleteBucketPolicy", "s3:DeleteBucketPolicy"},
    {"GetBucketPolicy", "s3:GetBucketPolicy"},
    {"PutBucketPolicy", "s3:PutBucketPolicy"},
    {"GetBucketPolicyStatus", "s3:GetBucketPolicyStatus"},
    {"DeletePublicAccessBlock", "s3:PutBucketPublicAccessBlock"},
    {"GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock"},
    {"PutPublicAccessBlock", "s3:PutBucketPublicAccessBlock"},
    {"DeleteBucketReplication", "s3:PutReplicationConfiguration"},
    {"GetBucketReplication", "s3:GetReplicationConfiguration"},
    {"PutBucketReplication", "s3:PutReplicationConfiguration"},
    {"GetBucketRequestPayment", "s3:GetBucketRequestPayment"},
    {"PutBucketRequestPayment", "s3:PutBucketRequestPayment"},
    {"DeleteBucketTagging", "s3:PutBucketTagging"},
    {"GetBucketTagging", "s3:GetBucketTagging"},
    {"PutBucketTagging", "s3:PutBucketTagging"},
    {"DeleteBucketWebsite", "s3:DeleteBucketWebsite"},
    {"GetBucketWebsite", "s3:GetBucketWebsite"},
    {"PutBucketWebsite", "s3:PutBucketWebsite"},
};

// Of directory buckets, besides the operations of a session (Amazon S3 User Guide, "Authorizing
// Regional endpoint API operations with IAM").
constexpr Row kDirectoryRows[] = {
    {"CreateBucket", "s3express:CreateBucket"},
    {"DeleteBucket", "s3express:DeleteBucket"},
    {"ListDirectoryBuckets", "s3express:ListAllMyDirectoryBuckets"},
    {"DeleteBucketPolicy", "s3express:DeleteBucketPolicy"},
    {"GetBucketPolicy", "s3express:GetBucketPolicy"},
    {"PutBucketPolicy", "s3express:PutBucketPolicy"},
    {"DeleteBucketEncryption", "s3express:PutEncryptionConfiguration"},
    {"GetBucketEncryption", "s3express:GetEncryptionConfiguration"},
    {"PutBucketEncryption", "s3express:PutEncryptionConfiguration"},
    {"DeleteBucketLifecycle", "s3express:PutLifecycleConfiguration"},
    {"GetBucketLifecycleConfiguration", "s3express:GetLifecycleConfiguration"},
    {"PutBucketLifecycleConfiguration", "s3express:PutLifecycleConfiguration"},
    {"GetBucketTagging", "s3express:ListTagsForResource"},
    {"PutBucketTagging", "s3express:TagResource"},
    {"DeleteBucketTagging", "s3express:UntagResource"},
};
constexpr std::string_view kCreateSession = "s3express:CreateSession";

// Operations that create an object, whose headers can also set its ACL, its tags and its lock.
constexpr std::string_view kCreations[] = {"PutObject", "CreateMultipartUpload", "CopyObject",
                                           "PostObject"};
// Their conditions, keys or tags are in the body. CreateSession opens its bucket itself.
constexpr std::string_view kLate[] = {
    "DeleteObjects",      "PostObject",         "CreateBucket", "PutObjectTagging",
    "PutObjectRetention", "PutObjectLegalHold", "CreateSession"};

template <std::size_t N>
const Row* FindRow(const Row (&rows)[N], std::string_view operation) {
  const Row* const row = std::find_if(std::begin(rows), std::end(rows),
                                      [&](const Row& each) { return each.operation == operation; });
  return row == std::end(rows) ? nullptr : row;
}

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// If-Match with an ETag reveals whether the object has it. "*" does not (Amazon S3 User Guide,
// "Enforce conditional deletes on Amazon S3 buckets" and "Enforce conditional writes on Amazon S3
// buckets").
bool ComparesETag(const Call& call) {
  const auto etag = call.Header("if-match");
  return etag && *etag != "*";
}

void AddCreationActions(const Call& call, RequiredActions& actions) {
  if (call.families.acl) actions.push_back("s3:PutObjectAcl");
  if (call.Header("x-amz-tagging")) actions.push_back("s3:PutObjectTagging");
  if (!call.families.object_lock) return;
  if (call.Header("x-amz-object-lock-mode")) actions.push_back("s3:PutObjectRetention");
  if (call.Header("x-amz-object-lock-legal-hold")) actions.push_back("s3:PutObjectLegalHold");
}

void AddBucketCreationActions(const Call& call, RequiredActions& actions) {
  if (call.families.acl) actions.push_back("s3:PutBucketAcl");
  if (call.Header("x-amz-object-ownership")) actions.push_back("s3:PutBucketOwnershipControls");
  const auto lock = call.Header("x-amz-bucket-object-lock-enabled");
  if (!lock || !EqualsIgnoreCase(*lock, "true")) return;
  actions.push_back("s3:PutBucketObjectLockConfiguration");
  actions.push_back("s3:PutBucketVersioning");
}

RequiredActions DirectoryActions(std::string_view operation) {
  const Row* const row = FindRow(kDirectoryRows, operation);
  return {row == nullptr ? kCreateSession : row->action};
}

}  // namespace

std::string_view ReadAction(bool names_version) {
  return names_version ? "s3:GetObjectVersion" : "s3:GetObject";
}

std::string_view DeleteAction(bool names_version) {
  return names_version ? "s3:DeleteObjectVersion" : "s3:DeleteObject";
}

bool AuthorizesLate(std::string_view operation) { return Contains(kLate, operation); }

RequiredActions ActionsOf(const Call& call) {
  const std::string_view operation = call.exchange.operation;
  if (IsDirectoryBucketName(call.bucket().value) || operation == "ListDirectoryBuckets" ||
      operation == "CreateSession") {
    return DirectoryActions(operation);
  }
  const Row* const row = FindRow(kRows, operation);
  if (row == nullptr) return {};
  const bool names_version = !row->of_version.empty() && call.Query("versionId").has_value();
  RequiredActions actions{names_version ? row->of_version : row->action};
  if (Contains(kCreations, operation)) AddCreationActions(call, actions);
  if (operation == "PutObject" || operation == "CopyObject" ||
      operation == "CompleteMultipartUpload" || operation == "DeleteObject") {
    if (ComparesETag(call)) actions.push_back("s3:GetObject");
  } else if (operation == "GetObjectAttributes") {
    actions.push_back(names_version ? "s3:GetObjectVersionAttributes" : "s3:GetObjectAttributes");
  } else if (operation == "CreateBucket") {
    AddBucketCreationActions(call, actions);
  }
  const bool can_bypass = operation == "PutObjectRetention" || names_version;
  if (can_bypass && call.families.object_lock && BypassesGovernance(call))
    actions.push_back("s3:BypassGovernanceRetention");
  return actions;
}

}  // namespace penstock::emulator::s3
