// The users of --users FILE and of the admin API: accounts, their users, and access keys, from
// JSON.
//
// docs/users.schema.json is the same in JSON Schema; docs/admin-api.md explains it.
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITY_USERS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITY_USERS_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/auth/auth.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

inline constexpr std::string_view kDefaultNamespace = "default";

struct KeyRecord {
  auth::User user;
  std::optional<std::string> name_space;  // nullopt: a known key's own, or else the default one
  // of its namespace in the document it came from: "accounts[0].access_keys[0].namespace"
  std::string place;
};

struct UsersDocument {
  std::vector<std::string> namespaces;  // to be made where they are missing
  std::vector<s3::Owner> accounts;
  std::vector<KeyRecord> keys;
};

// kInvalidArgument names the place ("accounts[0].users[1].name"), what is wrong there and what it
// takes; never a secret.
Result<UsersDocument> ParseUsers(std::string_view json);
// The same for a file; the message begins with its path.
Result<UsersDocument> ReadUsersFile(const std::string& path);

// The form ParseUsers takes, without secrets and session tokens.
std::string UsersJson(const UsersDocument& users);

// The account and its root that an access key given without an account stands for, the same on
// every run: canonical id and account id come from the key's name alone.
s3::Identity MakeIdentity(std::string_view access_key_id);

// The account id that MakeIdentity gives beside that canonical id.
std::string AccountIdOfCanonical(std::string_view canonical_id);

// What is wrong with an account id or a canonical id, or empty.
std::string AccountIdProblem(std::string_view account_id);
std::string CanonicalIdProblem(std::string_view canonical_id);
// What is wrong with an access key id, or empty.
std::string AccessKeyIdProblem(std::string_view access_key_id);
// What is wrong with the name of a namespace, or empty.
std::string NamespaceNameProblem(std::string_view name);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITY_USERS_DOCUMENT_H_
