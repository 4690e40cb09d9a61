// What a users document says about access in one account: users, groups, roles, managed policies
// and providers of web identity tokens. Without access keys.
#ifndef PENSTOCK_EMULATOR_IDENTITY_ACCOUNT_ACCESS_H_
#define PENSTOCK_EMULATOR_IDENTITY_ACCOUNT_ACCESS_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/identity/tokens/web_token.h"
#include "emulator/policy/document.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

using DocumentPtr = std::shared_ptr<const policy::Document>;

// Each has `json`, the object of the users document, without access keys. It may have a secret.
struct ManagedPolicy {
  std::string json;
  std::string document_json;
  std::string path = "/";
  DocumentPtr document;
};

struct Attachments {
  std::map<std::string, DocumentPtr, std::less<>> inline_policies;  // by name
  std::vector<std::string> attached_policies;                       // ARNs
  std::string permissions_boundary;                                 // an ARN; empty: none
};

struct Group {
  std::string json;
  std::string path = "/";
  Attachments policies;
};

using Tags = std::vector<std::pair<std::string, std::string>>;

struct AccountUser {
  std::string json;
  std::string path = "/";
  Tags tags;
  std::vector<std::string> groups;
  Attachments policies;
};

struct Role {
  std::string json;
  std::string name;
  std::string path = "/";
  Tags tags;
  DocumentPtr trust_policy;
  std::chrono::seconds max_session_duration{3600};
  Attachments policies;
  // Of sessions that no access key requests: of web identities, instances and containers.
  std::string name_space;
  bool instance_profile = false;  // the instance metadata service returns its credentials
  bool container = false;         // the container endpoint returns its credentials
  std::string container_token;    // a secret; empty: the container endpoint needs no token
};

template <class Entity>
using ByName = std::map<std::string, Entity, std::less<>>;

struct AccountAccess {
  std::string account_id;
  ByName<ManagedPolicy> managed_policies;
  ByName<Group> groups;
  ByName<AccountUser> users;
  ByName<Role> roles;
  ByName<TokenProvider> token_providers;  // by the issuer without its scheme

  bool empty() const;
  // Adds and replaces entities.
  void Merge(AccountAccess newer);
};

// The ARN of a role, for example "arn:aws:iam::111122223333:role/team/reader".
std::string RoleArn(std::string_view account_id, const Role& role);
// The ARN of a user, for example "arn:aws:iam::111122223333:user/team/ann".
std::string UserArn(std::string_view account_id, std::string_view path, std::string_view name);
// "AIDA..." of a user, derived from the ARN, the same in every run.
std::string UniqueId(std::string_view prefix, std::string_view arn);
// "AROA..." of a role.
std::string RoleId(std::string_view account_id, std::string_view role);

// The document of a managed policy: of the account, or one of AWS's (AmazonS3FullAccess,
// AmazonS3ReadOnlyAccess, AdministratorAccess, ReadOnlyAccess). Null: unknown.
DocumentPtr FindManagedPolicy(const AccountAccess& access, std::string_view arn);
// The same document as JSON; empty: unknown.
std::string ManagedPolicyJson(const AccountAccess& access, std::string_view arn);

// Returns kInvalidArgument if an entity names a group, a policy or a boundary that does not exist.
Result<void> CheckReferences(const AccountAccess& access);

// The policies of a user; `access` may be null or without the user.
std::shared_ptr<const policy::PrincipalPolicies> PoliciesOfUser(const AccountAccess* access,
                                                                std::string_view user);
// `session`: the session policies, of which the request must fulfill one. Empty: no limit.
std::shared_ptr<const policy::PrincipalPolicies> PoliciesOfRole(
    const AccountAccess& access, const Role& role, const std::vector<DocumentPtr>& session);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_ACCOUNT_ACCESS_H_
