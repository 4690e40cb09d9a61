// The users of --users FILE and of the admin API as JSON: accounts with their users, groups, roles,
// policies and access keys.
//
// docs/users.schema.json is the JSON Schema; docs/reference/admin-api.md describes the format.
#ifndef PENSTOCK_EMULATOR_IDENTITY_USERS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_IDENTITY_USERS_DOCUMENT_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/auth/auth.h"
#include "emulator/identity/account_access.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

inline constexpr std::string_view kDefaultNamespace = "default";

struct KeyRecord {
  auth::User user;
  std::optional<std::string> name_space;  // nullopt: keep a known key's namespace, else the default
  // Where the document names the namespace: "accounts[0].access_keys[0].namespace".
  std::string place;
};

// Temporary credentials of STS. The user database stores them; a users document has none.
struct SessionRecord {
  std::string access_key_id;  // "ASIA..."
  std::string secret_access_key;
  std::string session_token;
  WallTime expires{};
  std::optional<WallTime> issued = {};  // nullopt: by an older build, which did not store it
  std::string account_id;
  std::string role;                   // the name of the role; empty: of a user or the root
  std::string arn;                    // of the session, or of the user
  std::string user_name;              // of the user, or "ROLE/SESSION"; empty: the root
  std::string name_space;             // that the requests select
  std::vector<std::string> policies;  // session policies as JSON
};

struct UsersDocument {
  std::vector<std::string> namespaces;  // created if missing
  std::vector<s3::Owner> accounts;
  std::vector<KeyRecord> keys;
  std::vector<AccountAccess> access;    // at most one of each account
  std::vector<SessionRecord> sessions;  // only of the user database
};

// Set while the emulator stops. Imports check it between two keys and add nothing. May be null.
using StopFlag = const std::atomic<bool>*;
// Returns kUnavailable if `stop` is set.
Result<void> CheckNotStopped(StopFlag stop);

// kInvalidArgument names the place ("accounts[0].users[1].name"), the problem and the allowed
// values; it never contains a secret. kUnavailable after `stop` was set.
Result<UsersDocument> ParseUsers(std::string_view json, StopFlag stop = nullptr);

// The format of ParseUsers, without secrets and session tokens.
std::string UsersJson(const UsersDocument& users);

// The root identity for an access key without a given account. Canonical id and account id are
// derived only from the key's name, so they are the same in every run.
s3::Identity MakeIdentity(std::string_view access_key_id);

// The account id that MakeIdentity derives together with that canonical id.
std::string AccountIdOfCanonical(std::string_view canonical_id);

// Each returns the problem with its argument, or an empty string.
std::string AccountIdProblem(std::string_view account_id);
std::string CanonicalIdProblem(std::string_view canonical_id);
// Returns the problem with an access key id, or an empty string.
std::string AccessKeyIdProblem(std::string_view access_key_id);
// Returns the problem with a namespace's name, or an empty string.
std::string NamespaceNameProblem(std::string_view name);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_USERS_DOCUMENT_H_
