#include "emulator/s3/authorization/bucket_access.h"

#include <algorithm>
#include <iterator>

#include "base/log/diagnostics.h"
#include "emulator/s3/access/policy.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

constinit DiagnosticEvent unreadable_policy("s3.bucket_policy_unreadable");

// A policy that an older version stored and that cannot be evaluated denies everything, except that
// the root can replace it.
constexpr std::string_view kDenyAll =
    R"({"Statement":{"Sid":"UnreadableBucketPolicy","Effect":"Deny","Principal":"*",)"
    R"("Action":"*","Resource":"*"}})";

struct Row {
  AclResource resource;
  std::string_view permission;
  std::string_view action;
};

// Amazon S3 User Guide, "Mapping of ACL permissions and access policy permissions".
constexpr Row kRows[] = {
    {AclResource::kBucket, "READ", "s3:ListBucket"},
    {AclResource::kBucket, "READ", "s3:ListBucketVersions"},
    {AclResource::kBucket, "READ", "s3:ListBucketMultipartUploads"},
    {AclResource::kBucket, "WRITE", "s3:PutObject"},
    {AclResource::kBucket, "READ_ACP", "s3:GetBucketAcl"},
    {AclResource::kBucket, "WRITE_ACP", "s3:PutBucketAcl"},
    {AclResource::kObject, "READ", "s3:GetObject"},
    {AclResource::kObject, "READ", "s3:GetObjectVersion"},
    {AclResource::kObject, "READ_ACP", "s3:GetObjectAcl"},
    {AclResource::kObject, "READ_ACP", "s3:GetObjectVersionAcl"},
    {AclResource::kObject, "WRITE_ACP", "s3:PutObjectAcl"},
    {AclResource::kObject, "WRITE_ACP", "s3:PutObjectVersionAcl"},
};

std::shared_ptr<const policy::Document> ParsePolicy(const store::BucketRecord& bucket,
                                                    std::string_view text) {
  auto parsed = policy::ParseResourcePolicy(text);
  if (parsed.ok()) return std::move(parsed).value();
  unreadable_policy.Report(Error::Make(ErrorKind::kInvalidArgument,
                                       "the policy of bucket '" + bucket.name.value +
                                           "' denies every request: " + parsed.error().message));
  return policy::ParseResourcePolicy(kDenyAll).value();
}

}  // namespace

std::vector<AclEntry> ParseStoredAcl(std::string_view stored) {
  std::vector<AclEntry> entries;
  if (stored.empty()) return entries;
  const auto acl = ReadBySchema(stored, kAclSchema);
  if (!acl.ok()) return entries;
  for (const Element& grant : acl->Find("AccessControlList")->children) {
    const Element& grantee = *grant.Find("Grantee");
    const std::string_view id = grantee.Has("ID") ? grantee.TextOf("ID") : grantee.TextOf("URI");
    entries.push_back({std::string(id), std::string(grant.TextOf("Permission"))});
  }
  return entries;
}

bool AclPermits(AclResource resource, std::string_view permission, std::string_view action) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.resource == resource && row.action == action &&
           (row.permission == permission || permission == "FULL_CONTROL");
  });
}

policy::AclGrant GrantOf(const std::vector<AclEntry>& acl, AclResource resource,
                         const Identity& who, std::string_view action, bool ignore_public) {
  policy::AclGrant found = policy::AclGrant::kNone;
  for (const AclEntry& entry : acl) {
    if (!AclPermits(resource, entry.permission, action)) continue;
    const bool group = entry.grantee == kAllUsers ||
                       (entry.grantee == kAuthenticatedUsers && !who.owner_id.empty());
    if (group && !ignore_public) return policy::AclGrant::kToGroup;
    if (!who.owner_id.empty() && entry.grantee == who.owner_id)
      found = policy::AclGrant::kToAccount;
  }
  return found;
}

BucketAccess::BucketAccess(const store::BucketRecord& bucket)
    : acls(OwnershipOf(bucket) != kBucketOwnerEnforced), block(PublicAccessBlockOf(bucket)) {
  if (const std::string* const text = FindConfiguration(bucket, kPolicyKey)) {
    policy = ParsePolicy(bucket, *text);
    public_policy = IsPublicPolicy(*text);
  }
  const std::string* const stored = acls ? FindConfiguration(bucket, kAclKey) : nullptr;
  if (stored != nullptr) acl = ParseStoredAcl(*stored);
}

const BucketAccess& AccessOf(const store::BucketRecord& bucket) {
  return bucket.access.Get<BucketAccess>(
      [&] { return std::make_unique<const BucketAccess>(bucket); });
}

}  // namespace penstock::emulator::s3
