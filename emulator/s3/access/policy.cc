#include "emulator/s3/access/policy.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "emulator/s3/access/policy_conditions.h"
#include "emulator/s3/access/policy_vocabulary.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using Json = nlohmann::json;

// 20 KiB (Amazon S3 User Guide, "Bucket policies for Amazon S3"). S3 counts the normalized text.
constexpr std::size_t kMaxBytes = 20u << 10;

Error MissingField(std::string_view field) {
  return MalformedPolicy("Missing required field " + std::string(field));
}
Error InvalidSyntax(std::string_view field) {
  return MalformedPolicy("Invalid policy syntax.", field);
}
Error InvalidResource(std::string_view resource) {
  return MalformedPolicy("Policy has invalid resource", resource);
}

// Counts the bytes without white space between tokens.
std::size_t NormalizedBytes(std::string_view text) {
  std::size_t count = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) continue;
    ++count;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      ++count;
      ++i;
    }
  }
  return count;
}

Result<void> CheckMembers(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return MalformedPolicy("Unknown field " + name);
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

// Accepts an object with AWS, Service, Federated and CanonicalUser.
bool IsPrincipalMap(const Json& json) {
  if (json.empty()) return false;
  for (const auto& [kind, value] : json.items()) {
    const auto names = PolicyStrings(value);
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

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

// What a statement's resources can be.
struct Resources {
  bool bucket = false;
  bool objects = false;
};

// Adds `resource` of the general purpose bucket `bucket`.
Result<void> AddResource(std::string_view resource, std::string_view bucket, Resources& resources) {
  const std::string_view name = ResourceOfBucketArn(resource);
  const auto slash = name.find('/');
  const std::string_view of = name.substr(0, slash);
  const bool has_variable = of.find("${") != std::string_view::npos;
  if (of.empty() || (!has_variable && !MatchesPolicyPattern(of, bucket)))
    return InvalidResource(resource);
  const bool in_bucket = slash != std::string_view::npos;
  resources.bucket = resources.bucket || !in_bucket;
  // A '*' matches slashes, too.
  resources.objects = resources.objects || in_bucket || of.find('*') != std::string_view::npos;
  return Ok();
}

// Adds `resource` of the directory bucket `bucket`. AWS's examples use "*" there.
Result<void> AddDirectoryResource(std::string_view resource, std::string_view bucket,
                                  Resources& resources) {
  resources.bucket = true;
  if (resource == "*") return Ok();
  std::string_view arn = resource;
  const bool is_arn =
      TakeField(arn) == "arn" && TakeField(arn).starts_with("aws") && TakeField(arn) == "s3express";
  TakeField(arn);  // Region.
  TakeField(arn);  // Account.
  constexpr std::string_view kType = "bucket/";
  if (!is_arn || !arn.starts_with(kType)) return InvalidResource(resource);
  arn.remove_prefix(kType.size());
  const std::string_view of = arn.substr(0, arn.find('/'));
  if (of.find("${") == std::string_view::npos && !MatchesPolicyPattern(of, bucket))
    return InvalidResource(resource);
  return Ok();
}

// Returns the value of `name` or "Not" + `name`; an error if a statement has none or both.
Result<const Json*> Either(const Json& statement, const std::string& name) {
  const auto found = statement.find(name);
  const auto negated = statement.find("Not" + name);
  if (found == statement.end() && negated == statement.end()) return MissingField(name);
  if (found != statement.end() && negated != statement.end())
    return MalformedPolicy("A statement must not have both " + name + " and Not" + name);
  return found != statement.end() ? &*found : &*negated;
}

// Returns the values of a string or of an array of strings, which may be empty.
Result<std::vector<std::string>> Values(const Json& json, std::string_view field) {
  if (json.is_array() && json.empty()) return std::vector<std::string>();
  auto values = PolicyStrings(json);
  if (!values) return InvalidSyntax(field);
  return *std::move(values);
}

Result<std::vector<PolicyActionPattern>> ParseActions(const std::vector<std::string>& actions,
                                                      bool in_directory) {
  if (actions.empty()) return MalformedPolicy("Policy has invalid action");
  const PolicyActionSet service = MatchPolicyActions(in_directory ? "s3express:*" : "s3:*");
  std::vector<PolicyActionPattern> patterns;
  for (const std::string& action : actions) {
    patterns.push_back({MatchPolicyActions(action) & service, HasWildcard(action)});
    if (patterns.back().actions.none()) return MalformedPolicy("Policy has invalid action", action);
  }
  return patterns;
}

Result<Resources> ParseResources(const std::vector<std::string>& names, std::string_view bucket) {
  if (names.empty()) return InvalidResource({});
  const bool in_directory = IsDirectoryBucketName(bucket);
  Resources resources;
  for (const std::string& name : names) {
    PENSTOCK_TRY(in_directory ? AddDirectoryResource(name, bucket, resources)
                              : AddResource(name, bucket, resources));
  }
  return resources;
}

bool Applies(const PolicyActionPattern& pattern, const Resources& resources) {
  const auto actions = PolicyActions();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (pattern.actions[i] && ((resources.bucket && actions[i].on_bucket) ||
                               (resources.objects && actions[i].on_object))) {
      return true;
    }
  }
  return false;
}

// Checks Action, Resource and Condition.
Result<void> CheckScope(const Json& statement, std::string_view bucket) {
  PENSTOCK_ASSIGN(const Json* const action, Either(statement, "Action"));
  PENSTOCK_ASSIGN(const std::vector<std::string> actions, Values(*action, "Action"));
  PENSTOCK_ASSIGN(std::vector<PolicyActionPattern> patterns,
                  ParseActions(actions, IsDirectoryBucketName(bucket)));
  PENSTOCK_ASSIGN(const Json* const resource, Either(statement, "Resource"));
  PENSTOCK_ASSIGN(const std::vector<std::string> names, Values(*resource, "Resource"));
  PENSTOCK_ASSIGN(const Resources resources, ParseResources(names, bucket));
  if (statement.contains("NotAction")) patterns.clear();
  for (std::size_t i = 0; i < patterns.size() && !statement.contains("NotResource"); ++i) {
    if (!Applies(patterns[i], resources)) {
      return MalformedPolicy("Action does not apply to any resource(s) in statement", actions[i]);
    }
  }
  const auto condition = statement.find("Condition");
  return condition == statement.end() ? Ok() : CheckPolicyConditions(*condition, patterns);
}

// `name` may be absent.
Result<void> CheckText(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_string() ? Ok() : InvalidSyntax(name);
}

Result<void> CheckStatement(const Json& statement, std::string_view bucket) {
  if (!statement.is_object()) return InvalidSyntax("Statement");
  PENSTOCK_TRY(CheckMembers(statement, {"Sid", "Effect", "Principal", "NotPrincipal", "Action",
                                        "NotAction", "Resource", "NotResource", "Condition"}));
  PENSTOCK_TRY(CheckText(statement, "Sid"));
  const auto effect = statement.find("Effect");
  if (effect == statement.end()) return MissingField("Effect");
  if (!effect->is_string()) return InvalidSyntax("Effect");
  const auto value = effect->get<std::string>();
  if (value != "Allow" && value != "Deny") return MalformedPolicy("Invalid effect: " + value);
  PENSTOCK_ASSIGN(const Json* const principal, Either(statement, "Principal"));
  if (*principal != "*" && !principal->is_object()) return InvalidSyntax("Principal");
  if (principal->is_object() && !IsPrincipalMap(*principal))
    return MalformedPolicy("Invalid principal in policy", principal->dump());
  // IAM User Guide, "AWS JSON policy elements: NotPrincipal". The text is the emulator's.
  if (value == "Allow" && statement.contains("NotPrincipal"))
    return MalformedPolicy("NotPrincipal must be used with the effect Deny");
  return CheckScope(statement, bucket);
}

// Accepts every text: a policy that an older version stored may be refused now.
Json Parse(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

Result<void> CheckDocument(const Json& policy, std::string_view bucket) {
  PENSTOCK_TRY(CheckMembers(policy, {"Version", "Id", "Statement"}));
  if (const auto version = policy.find("Version");
      version != policy.end() && *version != "2012-10-17" && *version != "2008-10-17") {
    return MalformedPolicy("The policy must contain a valid version string");
  }
  PENSTOCK_TRY(CheckText(policy, "Id"));
  const auto statements = policy.find("Statement");
  if (statements == policy.end()) return MissingField("Statement");
  if (!statements->is_array()) return CheckStatement(*statements, bucket);
  if (statements->empty())
    return MalformedPolicy("Could not parse the policy: Statement is empty!");
  for (const Json& statement : *statements) PENSTOCK_TRY(CheckStatement(statement, bucket));
  return Ok();
}

bool IsEveryone(const Json& principal) {
  if (principal.is_string()) return true;
  const auto names = principal.contains("AWS") ? PolicyStrings(principal["AWS"]) : std::nullopt;
  return names && std::find(names->begin(), names->end(), "*") != names->end();
}

bool IsPublicStatement(const Json& statement) {
  if (!statement.is_object() || statement.value("Effect", Json()) != "Allow") return false;
  const auto principal = statement.find("Principal");
  if (principal == statement.end() || !IsEveryone(*principal)) return false;
  const auto condition = statement.find("Condition");
  return condition == statement.end() || !NarrowsPrincipals(*condition);
}

}  // namespace

Result<void> CheckPolicy(std::string_view text, std::string_view bucket) {
  if (!text.starts_with('{'))
    return MalformedPolicy("Policies must be valid JSON and the first byte must be '{'");
  if (NormalizedBytes(text) > kMaxBytes) {
    return MalformedPolicy("Normalized policy document exceeds the maximum allowed size of " +
                           std::to_string(kMaxBytes) + " bytes");
  }
  const Json policy = Parse(text);
  // nlohmann::json reads a NUL as the end of the text. Valid JSON has none.
  if (!policy.is_object() || text.find('\0') != std::string_view::npos)
    return MalformedPolicy("This policy contains invalid Json");
  return CheckDocument(policy, bucket);
}

bool IsPublicPolicy(std::string_view text) {
  const Json policy = Parse(text);
  if (!policy.is_object() || !policy.contains("Statement")) return false;
  const Json& statements = policy["Statement"];
  if (!statements.is_array()) return IsPublicStatement(statements);
  return std::any_of(statements.begin(), statements.end(), IsPublicStatement);
}

}  // namespace penstock::emulator::s3
