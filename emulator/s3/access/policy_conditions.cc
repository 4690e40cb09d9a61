#include "emulator/s3/access/policy_conditions.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "emulator/policy/condition.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using Json = nlohmann::json;

// IAM User Guide, "IAM JSON policy elements: Condition operators".
bool IsConditionOperator(std::string_view name) {
  static constexpr std::array<std::string_view, 26> kOperators = {"stringequals",
                                                                  "stringnotequals",
                                                                  "stringequalsignorecase",
                                                                  "stringlike",
                                                                  "stringnotlike",
                                                                  "stringnotequalsignorecase",
                                                                  "numericequals",
                                                                  "numericnotequals",
                                                                  "numericlessthan",
                                                                  "numericgreaterthan",
                                                                  "numericlessthanequals",
                                                                  "numericgreaterthanequals",
                                                                  "dateequals",
                                                                  "datenotequals",
                                                                  "datelessthan",
                                                                  "dategreaterthan",
                                                                  "datelessthanequals",
                                                                  "dategreaterthanequals",
                                                                  "bool",
                                                                  "binaryequals",
                                                                  "ipaddress",
                                                                  "notipaddress",
                                                                  "arnequals",
                                                                  "arnlike",
                                                                  "arnnotequals",
                                                                  "arnnotlike"};
  std::string text = AsciiLower(name);
  if (text == "null") return true;
  for (const std::string_view prefix : {"forallvalues:", "foranyvalue:"}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  constexpr std::string_view kIfExists = "ifexists";
  if (text.ends_with(kIfExists)) text.resize(text.size() - kIfExists.size());
  return std::find(kOperators.begin(), kOperators.end(), text) != kOperators.end();
}

// An address, or a range of addresses such as 10.0.0.0/8.
bool IsAddressRange(const std::string& text) {
  const auto slash = text.find('/');
  const std::string address = text.substr(0, slash);
  in6_addr bytes{};
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &bytes) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &bytes) != 1) return false;
  if (slash == std::string::npos) return true;
  const auto bits = ParseDecimal(text.substr(slash + 1));
  return bits && *bits <= (is_v4 ? 32u : 128u);
}

// Ranges of more addresses than /8, and /32 of IPv6, are public (Amazon S3 User Guide, "The meaning
// of public"). Other texts are not ranges.
bool IsBroadRange(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return false;
  in6_addr bytes{};
  const std::string address = text.substr(0, slash);
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &bytes) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &bytes) != 1) return false;
  const auto bits = ParseDecimal(text.substr(slash + 1));
  return !bits || *bits < (is_v4 ? 8u : 32u);
}

// True if the operator holds only for requests whose key has one of the values. A negated operator,
// "IfExists", "ForAllValues:" and "Null" also hold for others.
bool NeedsValue(std::string_view name) {
  using Op = policy::ConditionOperator;
  const auto op = policy::FindConditionOperator(name);
  if (!op || op->negated || op->if_exists || op->set == Op::Set::kForAllValues) return false;
  return op->test <= Op::Test::kStringLike || op->test == Op::Test::kArnLike ||
         op->test == Op::Test::kIpAddress;
}

// IAM User Guide, "Grammar of the IAM JSON policy language".
bool IsConditionValue(const Json& json) {
  const auto is_scalar = [](const Json& one) {
    return one.is_string() || one.is_number() || one.is_boolean();
  };
  return json.is_array() ? std::all_of(json.begin(), json.end(), is_scalar) : is_scalar(json);
}

// S3 refuses a key that one of the named actions lacks. Of an action with a wildcard only some of
// the matching actions need the key.
bool Apply(const PolicyKey& key, const std::vector<PolicyActionPattern>& actions) {
  if (key.every_action || actions.empty()) return true;
  const PolicyActionSet with_key = PolicyActionsWithKey(key);
  bool any = false;
  for (const PolicyActionPattern& pattern : actions) {
    const bool has = (pattern.actions & with_key).any();
    if (!has && !pattern.wildcard) return false;
    any = any || has;
  }
  return any;
}

// S3 does not compare the keys of other services, among them the global ones, with a list.
Result<void> CheckKey(const std::string& name, const std::vector<PolicyActionPattern>& actions) {
  const PolicyKey* const key = FindPolicyKey(name);
  if (key == nullptr && (name.find(':') == std::string::npos || StartsWithIgnoreCase(name, "s3:") ||
                         StartsWithIgnoreCase(name, "s3express:"))) {
    return MalformedPolicy("Policy has an invalid condition key", name);
  }
  if (key == nullptr || Apply(*key, actions)) return Ok();
  return MalformedPolicy(
      "Conditions do not apply to combination of actions and resources in statement", name);
}

}  // namespace

Error MalformedPolicy(std::string message, std::string_view detail) {
  ErrorDetails details;
  if (!detail.empty()) details.emplace_back("Detail", detail);
  return MakeError("MalformedPolicy", std::move(details), std::move(message));
}

std::optional<std::vector<std::string>> PolicyStrings(const Json& json) {
  std::vector<std::string> all;
  if (json.is_string()) {
    all.push_back(json.get<std::string>());
  } else if (json.is_array()) {
    for (const Json& item : json) {
      if (!item.is_string()) return std::nullopt;
      all.push_back(item.get<std::string>());
    }
  }
  if (all.empty()) return std::nullopt;
  return all;
}

Result<void> CheckPolicyConditions(const Json& condition,
                                   const std::vector<PolicyActionPattern>& actions) {
  const Error syntax = MalformedPolicy("Invalid policy syntax.", "Condition");
  if (!condition.is_object()) return syntax;
  for (const auto& [operation, tests] : condition.items()) {
    if (!IsConditionOperator(operation))
      return MalformedPolicy("Invalid Condition type : " + operation);
    if (!tests.is_object()) return syntax;
    const bool of_addresses = AsciiLower(operation).find("ipaddress") != std::string::npos;
    for (const auto& [key, value] : tests.items()) {
      PENSTOCK_TRY(CheckKey(key, actions));
      if (!IsConditionValue(value)) return syntax;
      const auto ranges = PolicyStrings(value);
      if (of_addresses && (!ranges || !std::all_of(ranges->begin(), ranges->end(), IsAddressRange)))
        return MalformedPolicy("Invalid IP address in Conditions", key);
    }
  }
  return Ok();
}

bool NarrowsPrincipals(const Json& condition) {
  static constexpr std::array<std::string_view, 14> kKeys = {
      "aws:sourceip",
      "aws:sourcearn",
      "aws:sourcevpc",
      "aws:sourcevpce",
      "aws:sourceowner",
      "aws:sourceaccount",
      "aws:userid",
      "aws:principalorgid",
      "aws:principalarn",
      "aws:principalaccount",
      "aws:principalorgpaths",
      "s3:dataaccesspointarn",
      "s3:dataaccesspointaccount",
      "s3:x-amz-server-side-encryption-aws-kms-key-id"};
  const auto fixed = [](const std::string& value) {
    return value.find_first_of("*?$") == std::string::npos && !IsBroadRange(value);
  };
  for (const auto& [operation, tests] : condition.items()) {
    if (!NeedsValue(operation)) continue;
    for (const auto& [key, value] : tests.items()) {
      const auto values = PolicyStrings(value);
      if (std::find(kKeys.begin(), kKeys.end(), AsciiLower(key)) == kKeys.end() || !values)
        continue;
      if (std::all_of(values->begin(), values->end(), fixed)) return true;
    }
  }
  return false;
}

}  // namespace penstock::emulator::s3
