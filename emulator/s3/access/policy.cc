#include "emulator/s3/access/policy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using Json = nlohmann::json;

// 20 KiB (Amazon S3 User Guide, "Bucket policies for Amazon S3").
constexpr std::size_t kMaxBytes = 20u << 10;

Error Malformed(std::string message) {
  return MakeError("MalformedPolicy", {}, std::move(message));
}
Error MissingField(std::string_view field) {
  return Malformed("Missing required field " + std::string(field));
}

// Returns a string or an array of strings; nullopt for anything else and for an empty array.
std::optional<std::vector<std::string>> Strings(const Json& json) {
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

Result<void> CheckMembers(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Malformed("Unknown field " + name);
  }
  return Ok();
}

bool IsAccount(std::string_view text) {
  return text.size() == 12 && ParseDecimal(text).has_value();
}

// Removes the text before the next colon and returns it.
std::string_view TakeField(std::string_view& arn) {
  const std::string_view field = arn.substr(0, arn.find(':'));
  arn.remove_prefix(std::min(arn.size(), field.size() + 1));
  return field;
}

// IAM User Guide, "AWS JSON policy elements: Principal": no groups, and no wildcards. The account
// of an origin access identity is "cloudfront".
bool IsPrincipalArn(std::string_view arn) {
  if (TakeField(arn) != "arn" || !TakeField(arn).starts_with("aws")) return false;
  const std::string_view service = TakeField(arn);
  if (!TakeField(arn).empty()) return false;
  const std::string_view account = TakeField(arn);
  if (!IsAccount(account) && account != "cloudfront") return false;
  if (arn.find_first_of("*?") != std::string_view::npos) return false;
  if (service == "iam")
    return arn == "root" || arn.starts_with("user/") || arn.starts_with("role/");
  return service == "sts" &&
         (arn.starts_with("assumed-role/") || arn.starts_with("federated-user/"));
}

bool IsAwsPrincipal(const std::string& text) {
  return text == "*" || IsAccount(text) || IsPrincipalArn(text) || text.starts_with("AIDA") ||
         text.starts_with("AROA");
}

// An account's id has 64 hexadecimal digits, an origin access identity's 96.
bool IsCanonicalUser(const std::string& text) {
  return text.size() >= 64 && HexDecode(text).has_value();
}

// Accepts "*", or an object with AWS, Service, Federated and CanonicalUser.
bool IsPrincipal(const Json& json) {
  if (json.is_string()) return json.get<std::string>() == "*";
  if (!json.is_object() || json.empty()) return false;
  for (const auto& [kind, value] : json.items()) {
    const auto names = Strings(value);
    if (!names) return false;
    const auto all = [&names](bool (*is_valid)(const std::string&)) {
      return std::all_of(names->begin(), names->end(), is_valid);
    };
    if (kind == "AWS"             ? !all(IsAwsPrincipal)
        : kind == "CanonicalUser" ? !all(IsCanonicalUser)
                                  : kind != "Service" && kind != "Federated") {
      return false;
    }
  }
  return true;
}

bool IsEveryone(const Json& principal) {
  if (principal.is_string()) return true;
  const auto names = principal.contains("AWS") ? Strings(principal["AWS"]) : std::nullopt;
  return names && std::find(names->begin(), names->end(), "*") != names->end();
}

bool IsAction(std::string_view action) {
  if (action == "*") return true;
  if (!StartsWithIgnoreCase(action, "s3:") || action.size() < 4) return false;
  return std::all_of(action.begin() + 3, action.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*' || c == '?';
  });
}

enum class Subject { kBucket, kObject, kBoth };

// Returns the kind of resource that an action applies to. Actions with "object" in their names
// apply to objects, with few exceptions.
Subject SubjectOf(std::string_view action) {
  if (action.find('*') != std::string_view::npos || action.find('?') != std::string_view::npos)
    return Subject::kBoth;
  const std::string name = AsciiLower(action);
  static constexpr std::array<std::string_view, 3> kOthers = {
      "s3:listmultipartuploadparts", "s3:abortmultipartupload", "s3:bypassgovernanceretention"};
  if (std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) return Subject::kObject;
  const bool on_object =
      name.find("object") != std::string::npos && name.find("bucket") == std::string::npos;
  return on_object ? Subject::kObject : Subject::kBucket;
}

// Returns the part of a resource after the bucket name; nullopt if it is in another bucket.
std::optional<std::string_view> PathInBucket(std::string_view resource, std::string_view bucket) {
  if (resource == "*") return "/*";
  const std::string_view name = ResourceOfBucketArn(resource);
  const auto slash = name.find('/');
  const std::string_view of = name.substr(0, slash);
  const bool wild = of.find_first_of("*?") != std::string_view::npos;
  if (of.empty() || (of != bucket && !wild)) return std::nullopt;
  return slash == std::string_view::npos ? std::string_view() : name.substr(slash);
}

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

// True if the condition limits "everyone" with fixed values of certain keys (Amazon S3 User Guide,
// "The meaning of public").
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
    return value.find_first_of("*?$") == std::string::npos && value != "0.0.0.0/0" &&
           value != "::/0";
  };
  for (const auto& [operation, tests] : condition.items()) {
    for (const auto& [key, value] : tests.items()) {
      const auto values = Strings(value);
      if (std::find(kKeys.begin(), kKeys.end(), AsciiLower(key)) == kKeys.end() || !values)
        continue;
      if (std::all_of(values->begin(), values->end(), fixed)) return true;
    }
  }
  return false;
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

Result<void> CheckConditions(const Json& condition) {
  const Error invalid = Malformed("Policy has an invalid condition key");
  if (!condition.is_object()) return invalid;
  for (const auto& [operation, tests] : condition.items()) {
    if (!IsConditionOperator(operation)) return Malformed("Invalid Condition type : " + operation);
    if (!tests.is_object()) return invalid;
    const bool of_addresses = AsciiLower(operation).find("ipaddress") != std::string::npos;
    for (const auto& [key, value] : tests.items()) {
      if (key.find(':') == std::string::npos) return invalid;
      const auto ranges = Strings(value);
      if (of_addresses && (!ranges || !std::all_of(ranges->begin(), ranges->end(), IsAddressRange)))
        return Malformed("Invalid IP address in Conditions");
    }
  }
  return Ok();
}

// Returns the value of `name` or "Not" + `name`; an error if a statement has none or both.
Result<const Json*> Either(const Json& statement, const std::string& name) {
  const auto found = statement.find(name);
  const auto negated = statement.find("Not" + name);
  if (found == statement.end() && negated == statement.end()) return MissingField(name);
  if (found != statement.end() && negated != statement.end())
    return Malformed("A statement must not have both " + name + " and Not" + name);
  return found != statement.end() ? &*found : &*negated;
}

Result<void> CheckActionsAndResources(const Json& statement, std::string_view bucket) {
  PENSTOCK_ASSIGN(const Json* const action, Either(statement, "Action"));
  const auto actions = Strings(*action);
  if (!actions || !std::all_of(actions->begin(), actions->end(), IsAction))
    return Malformed("Policy has invalid action");
  PENSTOCK_ASSIGN(const Json* const resource, Either(statement, "Resource"));
  const auto resources = Strings(*resource);
  if (!resources) return Malformed("Policy has invalid resource");
  bool objects = false;
  bool buckets = false;
  for (const std::string& name : *resources) {
    const auto path = PathInBucket(name, bucket);
    if (!path) return Malformed("Policy has invalid resource");
    objects = objects || !path->empty() || name.ends_with('*');
    buckets = buckets || path->empty() || name == "*";
  }
  for (const std::string& name : *actions) {
    const Subject subject = SubjectOf(name);
    if ((subject == Subject::kObject && !objects) || (subject == Subject::kBucket && !buckets)) {
      return Malformed("Action does not apply to any resource(s) in statement");
    }
  }
  return Ok();
}

Result<PolicyFacts> CheckStatement(const Json& statement, std::string_view bucket) {
  if (!statement.is_object()) return Malformed("Policy has invalid statement");
  PENSTOCK_TRY(CheckMembers(statement, {"Sid", "Effect", "Principal", "NotPrincipal", "Action",
                                        "NotAction", "Resource", "NotResource", "Condition"}));
  const auto effect = statement.find("Effect");
  if (effect == statement.end()) return MissingField("Effect");
  const std::string value = effect->is_string() ? effect->get<std::string>() : effect->type_name();
  if (value != "Allow" && value != "Deny") return Malformed("Invalid effect: " + value);
  PENSTOCK_ASSIGN(const Json* const principal, Either(statement, "Principal"));
  if (!IsPrincipal(*principal)) return Malformed("Invalid principal in policy");
  PENSTOCK_TRY(CheckActionsAndResources(statement, bucket));
  const auto condition = statement.find("Condition");
  bool narrowed = false;
  if (condition != statement.end()) {
    PENSTOCK_TRY(CheckConditions(*condition));
    narrowed = NarrowsPrincipals(*condition);
  }
  const bool everyone = statement.contains("Principal") && IsEveryone(*principal);
  return PolicyFacts{.is_public = value == "Allow" && everyone && !narrowed};
}

}  // namespace

Result<PolicyFacts> CheckPolicy(std::string_view text, std::string_view bucket) {
  if (text.size() > kMaxBytes) {
    return Malformed("The policy has " + std::to_string(text.size()) + " bytes; the limit is " +
                     std::to_string(kMaxBytes));
  }
  const Json policy = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  // nlohmann::json reads a NUL as the end of the text. Valid JSON has none.
  if (text.empty() || text.front() != '{' || text.find('\0') != std::string_view::npos ||
      !policy.is_object()) {
    return Malformed("Policies must be valid JSON and the first byte must be '{'");
  }
  PENSTOCK_TRY(CheckMembers(policy, {"Version", "Id", "Statement"}));
  if (const auto version = policy.find("Version");
      version != policy.end() && *version != "2012-10-17" && *version != "2008-10-17") {
    return Malformed("The policy must contain a valid version string");
  }
  const auto statements = policy.find("Statement");
  if (statements == policy.end()) return MissingField("Statement");
  if (!statements->is_array()) return CheckStatement(*statements, bucket);
  if (statements->empty()) return Malformed("Could not parse the policy: Statement is empty!");
  PolicyFacts facts;
  for (const Json& statement : *statements) {
    PENSTOCK_ASSIGN(const PolicyFacts one, CheckStatement(statement, bucket));
    facts.is_public = facts.is_public || one.is_public;
  }
  return facts;
}

}  // namespace penstock::emulator::s3
