#include "emulator/s3/post/post_policy.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/dates.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PostCondition::Kind;

constexpr std::string_view kSizeRange = "content-length-range";

Error Invalid(const std::string& reason) {
  return MakeError("InvalidPolicyDocument", {}, "Invalid Policy: " + reason);
}
Error InvalidJson() { return Invalid("Invalid JSON."); }

Error Violated(const std::string& reason) {
  return MakeError("AccessDenied", {}, "Invalid according to Policy: " + reason);
}

// AWS documents two escapes in addition to JSON's: \$ and \v (Amazon S3 API Reference, "POST
// Policy").
std::string WithJsonEscapes(std::string_view text) {
  std::string json;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      json += text[i];
      continue;
    }
    const char escaped = text[++i];
    if (escaped == '$') {
      json += '$';
    } else if (escaped == 'v') {
      json += "\\u000b";
    } else {
      json.append({'\\', escaped});
    }
  }
  return json;
}

std::string Format(const Json& text) {
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Format(std::string_view operation, std::string_view field, const Json& operand) {
  return "[" + Format(Json(operation)) + ", " + Format(Json(field)) + ", " + Format(operand) + "]";
}

Result<PostCondition> SimpleCondition(const Json& object) {
  if (object.size() != 1) {
    return Invalid(
        "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.");
  }
  const auto member = object.begin();
  const Json& value = member.value();
  if (value.is_null()) return InvalidJson();
  if (!value.is_string()) return Invalid("Invalid Simple-Condition: value must be a string.");
  PostCondition condition;
  condition.field = member.key();
  condition.operand = value.get<std::string>();
  condition.description = Format("eq", "$" + condition.field, value);
  return condition;
}

// Parses a bound of the size: a whole number or a string of digits. Returns nullopt for other
// strings; the condition then always fails.
Result<std::optional<std::uint64_t>> SizeBound(const Json& bound) {
  if (bound.is_string()) return ParseDecimal(bound.get<std::string>());
  if (bound.is_number_unsigned()) return std::optional<std::uint64_t>(bound.get<std::uint64_t>());
  if (bound.is_number_integer())
    return Invalid("Invalid content-length-range: a bound must not be negative.");
  return InvalidJson();
}

Result<PostCondition> SizeCondition(const Json& list) {
  PENSTOCK_ASSIGN(const auto min, SizeBound(list[1]));
  PENSTOCK_ASSIGN(const auto max, SizeBound(list[2]));
  PostCondition condition;
  condition.kind = min && max ? Kind::kSize : Kind::kNever;
  condition.size = {min.value_or(0), max.value_or(0)};
  condition.description =
      "[" + Format(list[0]) + ", " + Format(list[1]) + ", " + Format(list[2]) + "]";
  return condition;
}

Result<PostCondition> ListCondition(const Json& list) {
  if (list.empty()) return Invalid("Invalid Condition: missing operation identifier.");
  if (!list[0].is_string()) return InvalidJson();
  const std::string operation = AsciiLower(list[0].get<std::string>());
  if (operation != "eq" && operation != "starts-with" && operation != kSizeRange) {
    return Invalid("Invalid Condition: unknown operation '" + operation + "'.");
  }
  if (list.size() != 3) return Invalid("Invalid " + operation + ": wrong number of arguments.");
  if (operation == kSizeRange) return SizeCondition(list);
  if (!list[1].is_string() || !list[2].is_string()) return InvalidJson();
  const std::string field = list[1].get<std::string>();
  PostCondition condition;
  const bool has_dollar = field.starts_with('$');
  condition.kind = !has_dollar         ? Kind::kNever
                   : operation == "eq" ? Kind::kEqual
                                       : Kind::kStartsWith;
  condition.field = has_dollar ? field.substr(1) : field;
  condition.operand = list[2].get<std::string>();
  condition.description = Format(operation, field, list[2]);
  return condition;
}

Result<PostCondition> ParseCondition(const Json& condition) {
  if (condition.is_object()) return SimpleCondition(condition);
  if (condition.is_array()) return ListCondition(condition);
  return Invalid("Invalid condition: must be a List or Object.");
}

// Only UTC is accepted, no offset.
Result<WallTime> ParseExpiration(const Json& value) {
  if (!value.is_string()) return InvalidJson();
  const std::string text = value.get<std::string>();
  const auto time = text.ends_with('Z') ? ParseIso8601(text) : std::nullopt;
  if (!time) return Invalid("Invalid 'expiration' value: '" + text + "'");
  return *time;
}

// A Content-Type is a list ("image/jpeg,image/png"), and each entry must have the prefix. Other
// values are compared as a whole.
bool StartsWith(std::string_view field, std::string_view value, std::string_view prefix) {
  if (!EqualsIgnoreCase(field, "content-type")) return value.starts_with(prefix);
  for (;;) {
    const auto comma = value.find(',');
    if (!TrimBlanks(value.substr(0, comma)).starts_with(prefix)) return false;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

bool Holds(const PostCondition& condition, const std::vector<FormField>& fields,
           std::string_view bucket) {
  if (condition.kind == Kind::kSize) return true;
  if (condition.kind == Kind::kNever) return false;
  std::optional<std::string_view> value;
  for (const FormField& field : fields) {
    if (EqualsIgnoreCase(field.name, condition.field)) value = field.value;
  }
  // The addressed bucket, whatever the form contains.
  if (EqualsIgnoreCase(condition.field, "bucket")) value = bucket;
  if (!value) return false;  // Recorded against Amazon S3: also with an empty prefix.
  return condition.kind == Kind::kEqual ? *value == condition.operand
                                        : StartsWith(condition.field, *value, condition.operand);
}

bool NeedsCondition(std::string_view field) {
  static constexpr std::array<std::string_view, 5> kFree = {"x-amz-signature", "policy", "file",
                                                            "awsaccesskeyid", "signature"};
  if (StartsWithIgnoreCase(field, "x-ignore-")) return false;
  return std::none_of(kFree.begin(), kFree.end(),
                      [&](std::string_view free) { return EqualsIgnoreCase(free, field); });
}

}  // namespace

SizeRange PostPolicy::size() const {
  SizeRange range;
  for (const PostCondition& condition : conditions) {
    if (condition.kind != Kind::kSize) continue;
    range.min = std::max(range.min, condition.size.min);
    range.max = std::min(range.max, condition.size.max);
  }
  return range;
}

Result<PostPolicy> ParsePostPolicy(std::string_view base64) {
  const auto text = Base64Decode(base64);
  if (!text) return Invalid("invalid Base64 encoding.");
  const Json document = Json::parse(WithJsonEscapes(*text), nullptr, /*allow_exceptions=*/false);
  // nlohmann::json reads a NUL as the end of the text. Valid JSON has none.
  if (!document.is_object() || text->find('\0') != std::string::npos) return InvalidJson();
  for (const auto& [name, value] : document.items()) {
    if (name != "expiration" && name != "conditions")
      return Invalid("Unexpected: '" + AsciiLower(name) + "'");
  }
  if (!document.contains("expiration")) return Invalid("Policy missing expiration.");
  PostPolicy policy;
  PENSTOCK_ASSIGN(policy.expiration, ParseExpiration(document["expiration"]));
  if (!document.contains("conditions")) return Invalid("Policy missing conditions.");
  const Json& conditions = document["conditions"];
  if (!conditions.is_array()) return Invalid("Invalid 'conditions' value: must be a List.");
  for (const Json& json : conditions) {
    PENSTOCK_ASSIGN(PostCondition condition, ParseCondition(json));
    policy.conditions.push_back(std::move(condition));
  }
  return policy;
}

Result<void> CheckPostPolicy(const PostPolicy& policy, const std::vector<FormField>& fields,
                             std::string_view bucket, WallTime now) {
  if (now >= policy.expiration) return Violated("Policy expired.");
  for (const PostCondition& condition : policy.conditions) {
    if (!Holds(condition, fields, bucket))
      return Violated("Policy Condition failed: " + condition.description);
  }
  const auto is_named = [&](std::string_view field) {
    return std::any_of(
        policy.conditions.begin(), policy.conditions.end(),
        [&](const PostCondition& condition) { return EqualsIgnoreCase(condition.field, field); });
  };
  // Amazon S3 treats the addressed bucket as a field of the form (aws-sdk-php, issue 3292).
  if (!is_named("bucket")) return Violated("Extra input fields: bucket");
  for (const FormField& field : fields) {
    if (!is_named(field.name) && NeedsCondition(field.name))
      return Violated("Extra input fields: " + field.name);
  }
  return Ok();
}

}  // namespace penstock::emulator::s3
