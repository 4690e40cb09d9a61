#include "emulator/identity/sts/sts_parameters.h"

#include <algorithm>
#include <set>
#include <utility>

#include "emulator/identity/sts/sts_errors.h"
#include "emulator/policy/pattern.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::identity {
namespace {

constexpr std::string_view kUnsupported[] = {
    "Tags.",     "TransitiveTagKeys.", "SourceIdentity",   "SerialNumber",
    "TokenCode", "ProviderId",         "ProvidedContexts."};
constexpr std::size_t kMaxPolicyBytes = 2048;
constexpr std::size_t kMaxPolicyArns = 10;
constexpr std::uint64_t kMinSeconds = 900;

bool Names(std::string_view known, std::string_view name) {
  return known.ends_with('.') ? name.starts_with(known) : name == known;
}

// The name of a parameter in AWS's messages: "roleArn".
std::string MemberName(std::string_view name) {
  std::string member(name);
  if (!member.empty() && member[0] >= 'A' && member[0] <= 'Z')
    member[0] = static_cast<char>(member[0] + ('a' - 'A'));
  return member;
}

Error Constraint(std::string_view name, std::string_view value, const std::string& constraint) {
  // Unlike AWS, the message does not repeat a token.
  const std::string_view shown = name == "WebIdentityToken" ? "***" : value;
  return StsError("ValidationError", "1 validation error detected: Value '" + std::string(shown) +
                                         "' at '" + MemberName(name) +
                                         "' failed to satisfy constraint: " + constraint);
}

bool IsAllowed(char c, std::string_view punctuation) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         punctuation.find(c) != std::string_view::npos;
}

Result<void> CheckText(std::string_view name, std::string_view value, const TextRule& rule) {
  if (value.size() < rule.least)
    return Constraint(
        name, value,
        "Member must have length greater than or equal to " + std::to_string(rule.least));
  if (value.size() > rule.most)
    return Constraint(name, value,
                      "Member must have length less than or equal to " + std::to_string(rule.most));
  if (rule.punctuation.empty() || std::all_of(value.begin(), value.end(), [&](char c) {
        return IsAllowed(c, rule.punctuation);
      }))
    return Ok();
  return Constraint(name, value,
                    "Member must satisfy regular expression pattern: [\\w" +
                        std::string(rule.punctuation) + "]*");
}

// One of two values would be ignored.
Result<void> CheckNamesDiffer(const auth::QueryRequest& query) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : query.parameters) {
    if (names.insert(name).second) continue;
    return StsError("ValidationError",
                    "The request has the parameter " + name + " twice; send it once");
  }
  return Ok();
}

// `count`: the members that were read. A session policy that is ignored would give the session more
// permissions.
Result<void> CheckPolicyArns(const auth::QueryRequest& query, std::size_t count) {
  constexpr std::string_view kPrefix = "PolicyArns.";
  for (const auto& [name, value] : query.parameters) {
    if (!name.starts_with(kPrefix)) continue;
    std::size_t i = 1;
    while (i <= count && name != "PolicyArns.member." + std::to_string(i) + ".arn") ++i;
    if (i > count)
      return StsError("ValidationError", "The parameter " + name +
                                             " is unknown; name the members of PolicyArns "
                                             "PolicyArns.member.1.arn and so on, without a gap");
  }
  return Ok();
}

}  // namespace

Result<void> CheckKnownParameters(const auth::QueryRequest& query,
                                  std::initializer_list<std::string_view> known) {
  PENSTOCK_TRY(CheckNamesDiffer(query));
  for (const auto& parameter : query.parameters) {
    const std::string& name = parameter.first;
    const auto is_named = [&name](std::string_view each) { return Names(each, name); };
    if (name == "Action" || name == "Version" || std::any_of(known.begin(), known.end(), is_named))
      continue;
    if (std::any_of(std::begin(kUnsupported), std::end(kUnsupported), is_named)) {
      return StsError("NotImplemented",
                      "The emulator does not implement the parameter " + name + "; leave it out");
    }
    return StsError("ValidationError", "The parameter " + name + " is unknown; leave it out");
  }
  return Ok();
}

Result<std::optional<std::string>> OptionalText(const auth::QueryRequest& query,
                                                std::string_view name, const TextRule& rule) {
  const auto value = query.Get(name);
  if (!value) return std::optional<std::string>();
  PENSTOCK_TRY(CheckText(name, *value, rule));
  return std::optional(std::string(*value));
}

Result<std::string> RequiredText(const auth::QueryRequest& query, std::string_view name,
                                 const TextRule& rule) {
  PENSTOCK_ASSIGN(std::optional<std::string> value, OptionalText(query, name, rule));
  if (value) return *std::move(value);
  return StsError("ValidationError", "1 validation error detected: Value null at '" +
                                         MemberName(name) +
                                         "' failed to satisfy constraint: Member must not be null");
}

Result<std::chrono::seconds> Duration(const auth::QueryRequest& query,
                                      std::chrono::seconds otherwise, std::chrono::seconds most) {
  const auto value = query.Get("DurationSeconds");
  if (!value) return otherwise;
  const auto seconds = s3::ParseDecimal(*value);
  if (!seconds || *seconds < kMinSeconds)
    return Constraint(
        "DurationSeconds", *value,
        "Member must have value greater than or equal to " + std::to_string(kMinSeconds));
  if (*seconds > static_cast<std::uint64_t>(most.count()))
    return Constraint(
        "DurationSeconds", *value,
        "Member must have value less than or equal to " + std::to_string(most.count()));
  return std::chrono::seconds(*seconds);
}

Result<RoleName> RoleOf(const auth::QueryRequest& query) {
  PENSTOCK_ASSIGN(const std::string arn,
                  RequiredText(query, "RoleArn", {.least = 20, .most = 2048}));
  constexpr std::string_view kType = "role/";
  const auto parts = policy::SplitArn(arn);
  // IAM is global: its ARNs have no region. The emulator is of the partition "aws".
  if (!parts || (*parts)[0] != "arn" || (*parts)[1] != "aws" || (*parts)[2] != "iam" ||
      !(*parts)[3].empty() || !(*parts)[5].starts_with(kType))
    return StsError("ValidationError", arn + " is invalid");
  std::string_view name = (*parts)[5].substr(kType.size() - 1);  // "/path/name"
  const std::size_t slash = name.rfind('/');
  return RoleName{std::string((*parts)[4]), std::string(name.substr(0, slash + 1)),
                  std::string(name.substr(slash + 1))};
}

Result<std::vector<std::string>> SessionPolicies(const auth::QueryRequest& query,
                                                 const AccountAccess& access) {
  std::vector<std::string> policies;
  std::size_t bytes = 0;
  std::size_t read = 0;  // members of PolicyArns
  if (const auto text = query.Get("Policy")) {
    bytes = text->size();
    if (const auto parsed = policy::ParseIdentityPolicy(*text); !parsed.ok())
      return StsError("MalformedPolicyDocument", parsed.error().message);
    policies.emplace_back(*text);
  }
  for (std::size_t i = 1; i <= kMaxPolicyArns + 1; ++i) {
    const auto arn = query.Get("PolicyArns.member." + std::to_string(i) + ".arn");
    if (!arn) break;
    if (i > kMaxPolicyArns)
      return Constraint("PolicyArns", *arn, "Member must have length less than or equal to 10");
    std::string document = ManagedPolicyJson(access, *arn);
    if (document.empty())
      return StsError("MalformedPolicyDocument", "The policy " + std::string(*arn) +
                                                     " does not exist in the account of the role");
    bytes += arn->size();
    policies.push_back(std::move(document));
    ++read;
  }
  PENSTOCK_TRY(CheckPolicyArns(query, read));
  if (bytes <= kMaxPolicyBytes) return policies;
  return StsError("PackedPolicyTooLarge", "Packed size of session policies consumes " +
                                              std::to_string(bytes * 100 / kMaxPolicyBytes) +
                                              "% of allotted space; the limit is 2,048 characters");
}

}  // namespace penstock::emulator::identity
