#include "emulator/s3/authorization/authorization.h"

#include <string>
#include <utility>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/authorization/actions.h"
#include "emulator/s3/authorization/bucket_access.h"
#include "emulator/s3/authorization/decisions.h"
#include "emulator/s3/authorization/upload_access.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/operation.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

using policy::Decision;

// By these actions a root can repair a policy that denies it everything (IAM User Guide, "AWS JSON
// policy elements: Principal"; Amazon S3 API Reference, "PutBucketPolicy").
bool IsAboutPolicy(std::string_view action) {
  return action == "s3:GetBucketPolicy" || action == "s3:PutBucketPolicy" ||
         action == "s3:DeleteBucketPolicy" || action == "s3express:GetBucketPolicy" ||
         action == "s3express:PutBucketPolicy" || action == "s3express:DeleteBucketPolicy";
}

bool IsOff(const Call& call) { return call.options.authorization == AuthorizationMode::kOff; }

bool OwnsBucket(const Identity& who, const store::BucketRecord& bucket) {
  return !who.owner_id.empty() && who.owner_id == bucket.owner_id;
}

// What S3 answers to every unsigned request of an operation, whatever policies and ACLs allow. The
// Amazon S3 API Reference says so of CopyObject and UploadPartCopy, the Amazon S3 User Guide of
// uploads ("Multipart upload API and permissions"). The messages: aws/aws-sdk-cpp issue 1575,
// Seagate/cortx-prvsnr issue 2908 and the errors of versitygw.
constexpr std::pair<std::string_view, std::string_view> kForSignedOnly[] = {
    {"CreateMultipartUpload",
     "Anonymous users cannot initiate multipart uploads.  Please authenticate."},
    {"CopyObject", "Anonymous users cannot copy objects.  Please authenticate."},
    {"UploadPartCopy", "Anonymous users cannot copy objects.  Please authenticate."},
    {"PutBucketAcl", "Anonymous users cannot invoke this API.  Please authenticate."},
    {"PutObjectAcl", "Anonymous users cannot invoke this API.  Please authenticate."},
    {"GetBucketOwnershipControls",
     "s3:GetBucketOwnershipControls does not support Anonymous requests!"},
    {"PutBucketOwnershipControls",
     "s3:PutBucketOwnershipControls does not support Anonymous requests!"},
    {"DeleteBucketOwnershipControls",
     "s3:PutBucketOwnershipControls does not support Anonymous requests!"},
};

Result<void> RequireSignature(const Call& call) {
  if (!call.exchange.identity.owner_id.empty()) return Ok();
  for (const auto& [operation, message] : kForSignedOnly) {
    if (call.exchange.operation == operation)
      return MakeError("AccessDenied", {}, std::string(message));
  }
  return Ok();
}

// The account's root in its own bucket, which has neither a policy nor ACLs. Most requests.
bool IsPlainOwner(const Identity& who, const store::BucketRecord* bucket) {
  if (who.policies != nullptr || who.owner_id.empty()) return false;
  return bucket == nullptr || (OwnsBucket(who, *bucket) && AccessOf(*bucket).owner_only());
}

// The actions for which the owner of an existing object counts. Deletions and writes are about the
// bucket.
bool IsAboutObject(std::string_view action) {
  return action.starts_with("s3:GetObject") || action.starts_with("s3:PutObjectAcl") ||
         action.starts_with("s3:PutObjectVersionAcl") ||
         action.starts_with("s3:PutObjectTagging") ||
         action.starts_with("s3:PutObjectVersionTagging") ||
         action.starts_with("s3:DeleteObjectTagging") ||
         action.starts_with("s3:DeleteObjectVersionTagging") ||
         action.starts_with("s3:PutObjectRetention") ||
         action.starts_with("s3:PutObjectLegalHold") || action == "s3:RestoreObject";
}

// True if the request creates the object: its owner is the requester or the bucket's owner.
bool IsCreation(const Call& call) {
  const std::string_view operation = call.exchange.operation;
  return operation == "PutObject" || operation == "CopyObject" || operation == "PostObject" ||
         operation == "CreateMultipartUpload";
}

// WRITE on a bucket lets the owner of an object delete it (Amazon S3 User Guide, "Access control
// list (ACL) overview").
bool DeletesOwnObject(const Identity& who, const Subject& subject, const RequestContext& context,
                      std::string_view action) {
  if (action != "s3:DeleteObject" || subject.key.empty() || who.owner_id.empty()) return false;
  const store::ObjectRecord* const object = context.object();
  return object != nullptr && !object->is_delete_marker && object->owner_id == who.owner_id;
}

// Sets what ACLs and object ownership say about the request.
void ReadAcls(const Call& call, const Subject& subject, const BucketAccess& access,
              const RequestContext& context, policy::Request& request) {
  const Identity& who = call.exchange.identity;
  const bool ignore = access.block.ignore_acls;
  // Who may create an object owns it, and may set its ACL.
  const bool sets_acl = IsCreation(call) && request.action == "s3:PutObjectAcl";
  const bool writes = sets_acl || DeletesOwnObject(who, subject, context, request.action);
  request.acl = GrantOf(access.acl, AclResource::kBucket, who,
                        writes ? "s3:PutObject" : request.action, ignore);
  if (subject.key.empty() || !IsAboutObject(request.action)) return;
  // What is set for an object that is being created is not about the object that it replaces.
  if (IsCreation(call) && !request.action.starts_with("s3:GetObject")) return;
  const store::ObjectRecord* const object = context.object();
  if (object == nullptr || object->is_delete_marker) return;
  const bool of_other = object->owner_id != subject.bucket->owner_id;
  if (of_other) {
    request.resource_policy_allows = false;
    request.same_account = !who.owner_id.empty() && who.owner_id == object->owner_id;
  }
  // The owner's root needs no grant.
  if (request.same_account && who.policies == nullptr) return;
  request.acl = GrantOf(ParseStoredAcl(StoredObjectAcl(*object)), AclResource::kObject, who,
                        request.action, ignore);
}

// S3 explains denials to requesters of the bucket's account only (Amazon S3 User Guide,
// "Troubleshoot access denied (403 Forbidden) errors in Amazon S3").
Error Denied(const Identity& who, const policy::Request& request, const Decision& decision) {
  if (!request.same_account || who.arn.empty()) return MakeError("AccessDenied");
  std::string message =
      "User: " + who.arn + " is not authorized to perform: " + std::string(request.action);
  // The list of buckets is not a resource.
  if (request.action != "s3:ListAllMyBuckets")
    message.append(" on resource: \"").append(request.resource).append("\"");
  return MakeError("AccessDenied", {},
                   message + " " + policy::DenialReason(decision, request.action));
}

struct Outcome {
  policy::Request request;  // Only its texts are valid.
  Decision decision;
};

// `resource`: the subject's ARN.
Outcome Judge(const Call& call, const Subject& subject, std::string_view action,
              std::string_view resource, const BodyKeys& body) {
  const Identity& who = call.exchange.identity;
  const RequestContext context(call, subject, body);
  policy::Request request;
  request.principal = PrincipalOf(who);
  request.action = action;
  request.resource = resource;
  request.context = &context;
  if (subject.bucket == nullptr) {
    request.same_account = !who.owner_id.empty();
  } else {
    const BucketAccess& access = AccessOf(*subject.bucket);
    request.same_account = OwnsBucket(who, *subject.bucket);
    request.resource_policy = access.policy.get();
    request.root_always = IsAboutPolicy(action);
    // Only the bucket's account may use a public policy.
    request.resource_policy_allows =
        request.same_account || !access.public_policy || !access.block.restrict_buckets;
    if (access.acls) ReadAcls(call, subject, access, context, request);
    request.acl = GrantForUpload(call, action, request.acl);
  }
  const Decision decision = policy::Evaluate(request);
  return {request, decision};
}

enum class Record : std::uint8_t { kYes, kNo };

Result<void> Check(Call& call, const Subject& subject, std::string_view action,
                   const BodyKeys& body, Record record) {
  Exchange& exchange = call.exchange;
  if (IsPlainOwner(exchange.identity, subject.bucket)) return Ok();
  std::string resource = ArnOf(call, subject);
  const auto [request, decision] = Judge(call, subject, action, resource, body);
  Result<void> result = Ok();
  if (!decision.allowed) {
    result = Denied(exchange.identity, request, decision);
  } else if (IsAboutPolicy(action) && !request.same_account) {
    // Whoever has the permission, but not an identity of the bucket owner's account (Amazon S3 API
    // Reference, "GetBucketPolicy", "PutBucketPolicy" and "DeleteBucketPolicy").
    result = MethodNotAllowed(exchange.request.method, "BUCKETPOLICY");
  }
  if (record == Record::kYes) {
    Decisions::Add(exchange,
                   {action, std::move(resource), decision,
                    subject.bucket == nullptr ? nullptr : AccessOf(*subject.bucket).policy});
  }
  return result;
}

// A session of a directory bucket is for that bucket.
Result<void> CheckSession(const Identity& who, const store::BucketRecord& bucket) {
  if (who.session && !who.session->bucket.empty() && who.session->bucket != bucket.name.value)
    return MakeError("AccessDenied");
  return Ok();
}

Subject SubjectOf(const Call& call) {
  Subject subject{.bucket = call.opened.get(),
                  .bucket_name = call.bucket().value,
                  .key = {},
                  .version = std::nullopt};
  const Operation* const operation = call.exchange.resolved;
  const bool at_object = operation == nullptr || operation->level == Level::kObject;
  if (at_object) subject.key = call.key().value;
  if (const auto version = call.Query("versionId"); version && !version->empty())
    subject.version = VersionId(std::string(*version));
  return subject;
}

Result<void> CheckAll(Call& call, const BodyKeys& body) {
  const Identity& who = call.exchange.identity;
  const store::BucketRecord* const bucket = call.opened.get();
  if (bucket != nullptr) PENSTOCK_TRY(CheckSession(who, *bucket));
  if (IsOff(call)) return bucket == nullptr ? RequireAccount(who) : Authorize(who, *bucket);
  if (IsPlainOwner(who, bucket)) return Ok();
  const Subject subject = SubjectOf(call);
  for (const std::string_view action : ActionsOf(call))
    PENSTOCK_TRY(Check(call, subject, action, body, Record::kYes));
  return Ok();
}

}  // namespace

Result<void> AuthorizeOperation(Call& call) {
  PENSTOCK_TRY(RequireSignature(call));
  return AuthorizesLate(call.exchange.operation) ? Ok() : CheckAll(call, {});
}

Result<void> AuthorizeWithBody(Call& call, const BodyKeys& body) { return CheckAll(call, body); }

Result<void> AuthorizeAction(Call& call, const Subject& subject, std::string_view action,
                             const BodyKeys& body) {
  if (IsOff(call)) return Authorize(call.exchange.identity, *subject.bucket);
  return Check(call, subject, action, body, Record::kYes);
}

Result<void> AuthorizeCopySource(Call& call, const Subject& source,
                                 const store::ObjectRecord* object) {
  PENSTOCK_TRY(CheckSession(call.exchange.identity, *source.bucket));
  if (IsDirectoryBucketName(source.bucket_name))
    return AuthorizeAction(call, source, "s3express:CreateSession");
  const bool named = source.version.has_value();
  PENSTOCK_TRY(AuthorizeAction(call, source, ReadAction(named)));
  const auto directive = call.Header("x-amz-tagging-directive");
  const bool copies_tags = call.exchange.operation == "CopyObject" && object != nullptr &&
                           !object->tags.empty() && directive.value_or("COPY") == "COPY";
  if (!copies_tags || IsOff(call)) return Ok();
  PENSTOCK_TRY(
      AuthorizeAction(call, source, named ? "s3:GetObjectVersionTagging" : "s3:GetObjectTagging"));
  const Subject target{.bucket = call.opened.get(),
                       .bucket_name = call.bucket().value,
                       .key = call.key().value,
                       .version = std::nullopt};
  return Check(call, target, "s3:PutObjectTagging", TagKeys(object->tags), Record::kYes);
}

std::string ExplainAction(const Call& call, const Subject& subject, std::string_view action,
                          const BodyKeys& keys) {
  std::string resource = ArnOf(call, subject);
  const Decision decision = Judge(call, subject, action, resource, keys).decision;
  return DecisionJson({action, std::move(resource), decision, nullptr});
}

Error HideMissingKey(Call& call, const store::BucketRecord& bucket, Error error) {
  // Directory buckets have no permission to list: who has a session may list.
  const bool of_version = error.code == "NoSuchVersion";
  if ((error.code != "NoSuchKey" && !of_version) || IsOff(call) ||
      IsDirectoryBucketName(bucket.name.value))
    return error;
  // The check is about the bucket, as in S3: s3:prefix and other keys of lists are not present.
  const Subject subject{
      .bucket = &bucket, .bucket_name = bucket.name.value, .key = {}, .version = std::nullopt};
  const auto may_list = Check(call, subject, "s3:ListBucket", {}, Record::kNo);
  if (may_list.ok()) return error;
  // A list of versions shows which ones there are.
  if (of_version && Check(call, subject, "s3:ListBucketVersions", {}, Record::kNo).ok())
    return error;
  return may_list.error();
}

}  // namespace penstock::emulator::s3
