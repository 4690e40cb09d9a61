// The conditions of a bucket policy's statement: checks, and the effect on public access.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_CONDITIONS_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_CONDITIONS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/access/policy_vocabulary.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Returns MalformedPolicy with S3's message. `detail`: the value that is wrong, in the element
// Detail; empty: none.
Error MalformedPolicy(std::string message, std::string_view detail = {});

// Returns a string or an array of strings; nullopt for anything else and for an empty array.
std::optional<std::vector<std::string>> PolicyStrings(const nlohmann::json& json);

// A value of a statement's Action.
struct PolicyActionPattern {
  PolicyActionSet actions;
  bool wildcard = false;
};

// `actions`: the values of the statement's Action. Empty: every key is allowed, because the
// statement has NotAction.
Result<void> CheckPolicyConditions(const nlohmann::json& condition,
                                   const std::vector<PolicyActionPattern>& actions);

// True if the condition limits "everyone" with fixed values of certain keys (Amazon S3 User Guide,
// "The meaning of public").
bool NarrowsPrincipals(const nlohmann::json& condition);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_CONDITIONS_H_
