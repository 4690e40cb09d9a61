// What a bucket's configuration says about access: its policy, its ACL, object ownership and Block
// Public Access. Parsed once for each version of the bucket's record.
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_BUCKET_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_BUCKET_ACCESS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/access/acl.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

struct AclEntry {
  std::string grantee;     // A canonical id, or the URI of a group.
  std::string permission;  // "READ", "FULL_CONTROL".
};
// Parses the stored form. Returns no entries for a text that cannot be read.
std::vector<AclEntry> ParseStoredAcl(std::string_view stored);

// True if the permission of an ACL includes the action.
bool AclPermits(AclResource resource, std::string_view permission, std::string_view action);

// What the entries grant to the requester. `ignore_public`: entries for groups do not count.
policy::AclGrant GrantOf(const std::vector<AclEntry>& acl, AclResource resource,
                         const Identity& who, std::string_view action, bool ignore_public);

struct BucketAccess final : store::CachedValue::Value {
  explicit BucketAccess(const store::BucketRecord& bucket);

  // Neither a policy nor ACLs: the account of the bucket has all rights, others have none.
  bool owner_only() const { return policy == nullptr && !acls; }

  std::shared_ptr<const policy::Document> policy;  // Null: none.
  bool public_policy = false;
  bool acls = false;  // ACLs count, and objects can belong to other accounts.
  PublicAccessBlock block;
  std::vector<AclEntry> acl;
};

const BucketAccess& AccessOf(const store::BucketRecord& bucket);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_BUCKET_ACCESS_H_
