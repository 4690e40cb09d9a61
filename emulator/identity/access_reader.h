// Reads the parts of a users document that AccountAccess has.
#ifndef PENSTOCK_EMULATOR_IDENTITY_ACCESS_READER_H_
#define PENSTOCK_EMULATOR_IDENTITY_ACCESS_READER_H_

#include <string>
#include <string_view>

#include "emulator/identity/account_access.h"
#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

// Kinds of entities in the user database.
inline constexpr std::string_view kUserKind = "user";
inline constexpr std::string_view kGroupKind = "group";
inline constexpr std::string_view kRoleKind = "role";
inline constexpr std::string_view kPolicyKind = "policy";
inline constexpr std::string_view kProviderKind = "provider";

// Each reads one object at `place` and adds it to `access`, whose account id is set. Returns
// kInvalidArgument with the place; a name that `access` has already is an error.
Result<void> ReadManagedPolicy(const Json& json, const std::string& place, AccountAccess& access);
Result<void> ReadGroup(const Json& json, const std::string& place, AccountAccess& access);
Result<void> ReadRole(const Json& json, const std::string& place, AccountAccess& access);
Result<void> ReadTokenProvider(const Json& json, const std::string& place, AccountAccess& access);
// Returns the fields of a user, whose names it checks.
Result<JsonFields> ReadUserFields(const Json& json, const std::string& place);
Result<void> ReadUserAccess(const Json& json, const std::string& place, AccountAccess& access);

// Reads managed_policies, groups, roles and token_providers of an account.
Result<void> ReadAccountLists(const JsonFields& account, AccountAccess& access);

// Reads the `json` of an entity of that kind.
Result<void> ReadEntity(std::string_view kind, std::string_view json, AccountAccess& access);

// Returns the lists of an account for the listing of users: without secrets. Users are in
// `users`, by name.
Json AccessJson(const AccountAccess& access, std::string_view list);

// Each returns true if the text may be a name or a path in IAM.
bool IsEntityName(std::string_view text, std::size_t most = 64);
bool IsEntityPath(std::string_view text);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_ACCESS_READER_H_
