// Policy documents, parsed once (IAM User Guide, "IAM JSON policy element reference").
//
// A document never changes, so that requests share it without a lock.
#ifndef PENSTOCK_EMULATOR_POLICY_DOCUMENT_H_
#define PENSTOCK_EMULATOR_POLICY_DOCUMENT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/policy/condition.h"
#include "emulator/policy/pattern.h"
#include "penstock/base/result.h"

namespace penstock::emulator::policy {

enum class Effect : std::uint8_t { kAllow, kDeny };

// The principals of a statement of a resource policy.
struct PrincipalElement {
  bool negated = false;   // NotPrincipal.
  bool everyone = false;  // "*", or {"AWS": "*"}.
  // Account ids, ARNs of roots, users, roles and sessions, and unique ids of users and roles.
  std::vector<std::string> aws;
  std::vector<std::string> canonical_users;
  std::vector<std::string> services;
  std::vector<std::string> federated;
};

struct Statement {
  std::string sid;
  Effect effect = Effect::kDeny;
  std::optional<PrincipalElement> principal;  // nullopt in identity policies.
  bool not_action = false;
  std::vector<Pattern> actions;
  bool not_resource = false;
  std::vector<Pattern> resources;
  std::vector<Condition> conditions;
};

struct Document {
  std::vector<Statement> statements;
};

// A policy of a user, a group or a role, a permission boundary or a session policy. Errors are
// kInvalidArgument and name the place: "Statement[1].Action: ...".
Result<std::shared_ptr<const Document>> ParseIdentityPolicy(std::string_view json);
// A policy with principals: of a bucket.
Result<std::shared_ptr<const Document>> ParseResourcePolicy(std::string_view json);
// The trust policy of a role: principals, and no resources.
Result<std::shared_ptr<const Document>> ParseTrustPolicy(std::string_view json);

struct NamedPolicy {
  // An ARN ("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess") or "user/ann/inline-name".
  std::string name;
  std::shared_ptr<const Document> document;  // Never null.
};

// What limits a user or a role session, and its tags. The root of an account has none.
struct PrincipalPolicies {
  std::vector<NamedPolicy> identity;    // Of the user and its groups, or of the role.
  std::optional<NamedPolicy> boundary;  // The permission boundary.
  std::optional<NamedPolicy> session;   // The session policy.
  std::vector<std::pair<std::string, std::string>> tags;
};

}  // namespace penstock::emulator::policy

#endif  // PENSTOCK_EMULATOR_POLICY_DOCUMENT_H_
