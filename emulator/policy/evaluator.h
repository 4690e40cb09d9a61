// Decides whether a request is allowed, and which statement decided it (IAM User Guide, "Policy
// evaluation logic").
//
// The order is AWS's: an explicit deny of any policy; then, in the account of the resource, the
// union of the resource policy and the identity policies; between accounts, their intersection.
// Permission boundaries and session policies limit what identity policies allow.
#ifndef PENSTOCK_EMULATOR_POLICY_EVALUATOR_H_
#define PENSTOCK_EMULATOR_POLICY_EVALUATOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/policy/document.h"

namespace penstock::emulator::policy {

struct Principal {
  enum class Type : std::uint8_t { kAnonymous, kRoot, kUser, kRoleSession };
  Type type = Type::kAnonymous;
  std::string_view account_id;
  std::string_view canonical_id;  // Of the account.
  std::string_view arn;           // Of the root, the user or the role session.
  std::string_view role_arn;      // Of a role session.
  std::string_view user_id;       // "AIDA...", or "AROA...:session".
  // Null: no policy limits the principal, as for a root.
  const PrincipalPolicies* policies = nullptr;
};

// What an access control list, or the creation of an upload, grants to the principal.
enum class AclGrant : std::uint8_t {
  kNone,
  kToAccount,  // To the canonical id of the principal's account, which delegates it to its users.
  kToGroup,    // To all users, or to all authenticated users.
  // To the principal itself, which created the upload. It needs no policy (Amazon S3 User Guide,
  // "Multipart upload API and permissions").
  kToInitiator,
};

struct Request {
  Principal principal;
  std::string_view action;    // "s3:GetObject".
  std::string_view resource;  // ARN.
  // The principal's account owns the resource.
  bool same_account = false;
  const Document* resource_policy = nullptr;  // Null: none.
  // Whether the resource policy can allow, besides deny: false for an object of another account
  // than the bucket's.
  bool resource_policy_allows = true;
  AclGrant acl = AclGrant::kNone;
  // The root of the resource's account is allowed even if the resource policy denies: for the
  // actions that repair the policy.
  bool root_always = false;
  const Context* context = nullptr;  // Never null.
};

// What decided a request.
enum class Source : std::uint8_t {
  kNone,            // No policy applies.
  kRoot,            // The resource's account, which its own root may use.
  kResourcePolicy,  // For example a bucket policy.
  kAcl,
  kInitiator,  // The principal created the upload.
  kIdentityPolicy,
  kBoundary,
  kSessionPolicy,
};
std::string_view NameOf(Source source);  // "identity-policy"

struct Decision {
  bool allowed = false;
  // For an implicit deny, the kind of policy that does not allow the request.
  Source source = Source::kNone;
  // Null: an implicit deny, a root or an ACL. Points into a document of the request.
  const Statement* statement = nullptr;
  int statement_index = -1;
  std::string_view policy;  // Name of the identity policy, boundary or session policy.

  bool explicit_deny() const { return !allowed && statement != nullptr; }
};

Decision Evaluate(const Request& request);

// A statement of a document.
struct Match {
  const Statement* statement = nullptr;  // Null: none applies.
  int index = -1;
};
// Returns the first statement with that effect that applies to the request: its principal, if it
// has one, its action, its resource and its conditions. Used for trust policies, too.
Match FindStatement(const Document& document, Effect effect, const Request& request);

// The text that AWS adds to "User: ARN is not authorized to perform: ACTION on resource: ..." for
// a denial: "because no identity-based policy allows the s3:GetObject action".
std::string DenialReason(const Decision& decision, std::string_view action);

}  // namespace penstock::emulator::policy

#endif  // PENSTOCK_EMULATOR_POLICY_EVALUATOR_H_
