// Checks of the parameters of STS's actions, with the messages of AWS.
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_STS_PARAMETERS_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_STS_PARAMETERS_H_

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/auth/query_request.h"
#include "emulator/identity/account_access.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

// ValidationError for a parameter outside `known`, NotImplemented for one that the emulator does
// not support (Tags, MFA). A name in `known` that ends with '.' is the prefix of a list.
Result<void> CheckKnownParameters(const auth::QueryRequest& query,
                                  std::initializer_list<std::string_view> known);

struct TextRule {
  std::size_t least = 0;
  std::size_t most = 0;
  std::string_view punctuation;  // allowed besides letters and digits; empty: everything is
};
// The value, which must be present and follow the rule. ValidationError otherwise.
Result<std::string> RequiredText(const auth::QueryRequest& query, std::string_view name,
                                 const TextRule& rule);
// nullopt: the parameter is missing.
Result<std::optional<std::string>> OptionalText(const auth::QueryRequest& query,
                                                std::string_view name, const TextRule& rule);
Result<std::chrono::seconds> Duration(const auth::QueryRequest& query,
                                      std::chrono::seconds otherwise, std::chrono::seconds most);

struct RoleName {
  std::string account_id;
  std::string path;
  std::string name;
};
// Of the parameter RoleArn.
Result<RoleName> RoleOf(const auth::QueryRequest& query);

// The documents of Policy and PolicyArns, as JSON. `access`: of the role's account.
Result<std::vector<std::string>> SessionPolicies(const auth::QueryRequest& query,
                                                 const AccountAccess& access);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_STS_PARAMETERS_H_
