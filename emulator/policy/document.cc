#include "emulator/policy/document.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "emulator/json/json_tree.h"

namespace penstock::emulator::policy {
namespace {

enum class Type : std::uint8_t { kIdentity, kResource, kTrust };

// IAM's limit of a managed policy is 6,144 characters, a bucket policy's 20 KiB. This limit only
// bounds the work.
constexpr std::size_t kMaxBytes = 128u << 10;

// Returns a string, or the strings of an array.
Result<std::vector<std::string>> Strings(const Json& json, const std::string& place) {
  std::vector<std::string> all;
  if (json.is_string()) {
    all.push_back(json.get<std::string>());
  } else if (json.is_array() && !json.empty()) {
    for (const Json& item : json) {
      if (!item.is_string()) return FieldError(place, "must contain only strings");
      all.push_back(item.get<std::string>());
    }
  } else {
    return FieldError(place, "must be a string or a list of strings that is not empty");
  }
  return all;
}

// A value of a condition: a string, a number or a boolean.
std::optional<std::string> Scalar(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number() || json.is_boolean()) return json.dump();
  return std::nullopt;
}

// Reads one statement. `place` is its path: "Statement[1]".
class StatementReader {
 public:
  StatementReader(const Json& json, std::string place, Type type, bool has_variables)
      : json_(json),
        place_(std::move(place)),
        type_(type),
        variables_(has_variables ? Pattern::Variables::kYes : Pattern::Variables::kNo) {}

  Result<Statement> Read() {
    PENSTOCK_ASSIGN(const JsonFields fields,
                    JsonFields::Read(json_, place_,
                                     {"Sid", "Effect", "Principal", "NotPrincipal", "Action",
                                      "NotAction", "Resource", "NotResource", "Condition"}));
    PENSTOCK_ASSIGN(const auto sid, fields.Text("Sid"));
    statement_.sid = sid.value_or("");
    PENSTOCK_ASSIGN(const std::string effect, fields.RequiredText("Effect"));
    if (effect != "Allow" && effect != "Deny") {
      return FieldError(fields.Place("Effect"),
                        "must be \"Allow\" or \"Deny\", not \"" + effect + "\"");
    }
    statement_.effect = effect == "Allow" ? Effect::kAllow : Effect::kDeny;
    PENSTOCK_TRY(ReadPrincipal(fields));
    PENSTOCK_TRY(ReadActions(fields));
    PENSTOCK_TRY(ReadResources(fields));
    if (const Json* const condition = fields.Find("Condition"))
      PENSTOCK_TRY(ReadConditions(*condition, fields.Place("Condition")));
    return std::move(statement_);
  }

 private:
  // Finds `name` or "Not" + `name`. Returns an error for both.
  Result<std::pair<const Json*, std::string>> Either(const JsonFields& fields,
                                                     const std::string& name) const {
    const std::string other = "Not" + name;
    if (fields.Has(name) && fields.Has(other))
      return FieldError(place_, "must not have both " + name + " and " + other);
    const std::string& given = fields.Has(other) ? other : name;
    return std::pair(fields.Find(given), given);
  }

  Result<void> ReadPrincipal(const JsonFields& fields) {
    PENSTOCK_ASSIGN(const auto found, Either(fields, "Principal"));
    const auto& [json, name] = found;
    if (type_ == Type::kIdentity) {
      return json == nullptr ? Ok()
                             : FieldError(fields.Place(name),
                                          "an identity policy has no principal; remove the member");
    }
    if (json == nullptr) return FieldError(place_, "must have Principal or NotPrincipal");
    statement_.principal.emplace();
    statement_.principal->negated = name == "NotPrincipal";
    if (json->is_string() && *json == "*") {
      statement_.principal->everyone = true;
      return Ok();
    }
    return ReadPrincipalMap(*json, fields.Place(name));
  }

  Result<void> ReadPrincipalMap(const Json& json, const std::string& place) {
    PENSTOCK_ASSIGN(
        const JsonFields fields,
        JsonFields::Read(json, place, {"AWS", "CanonicalUser", "Service", "Federated"}));
    PrincipalElement& principal = *statement_.principal;
    const std::pair<const char*, std::vector<std::string>*> lists[] = {
        {"AWS", &principal.aws},
        {"CanonicalUser", &principal.canonical_users},
        {"Service", &principal.services},
        {"Federated", &principal.federated}};
    for (const auto& [name, list] : lists) {
      const Json* const names = fields.Find(name);
      if (names == nullptr) continue;
      PENSTOCK_ASSIGN(*list, Strings(*names, fields.Place(name)));
    }
    principal.everyone =
        std::find(principal.aws.begin(), principal.aws.end(), "*") != principal.aws.end();
    return Ok();
  }

  Result<void> ReadActions(const JsonFields& fields) {
    PENSTOCK_ASSIGN(const auto found, Either(fields, "Action"));
    const auto& [json, name] = found;
    if (json == nullptr) return FieldError(place_, "must have Action or NotAction");
    statement_.not_action = name == "NotAction";
    PENSTOCK_ASSIGN(const std::vector<std::string> actions, Strings(*json, fields.Place(name)));
    for (const std::string& action : actions) {
      const auto colon = action.find(':');
      if (action != "*" && (colon == std::string::npos || colon == 0)) {
        return FieldError(fields.Place(name), "invalid action \"" + action +
                                                  "\": expected SERVICE:ACTION, for example "
                                                  "\"s3:GetObject\", or \"*\"");
      }
      statement_.actions.emplace_back(action, Pattern::Wildcards::kYes, Pattern::Variables::kNo);
    }
    return Ok();
  }

  Result<void> ReadResources(const JsonFields& fields) {
    PENSTOCK_ASSIGN(const auto found, Either(fields, "Resource"));
    const auto& [json, name] = found;
    if (type_ == Type::kTrust) {
      return json == nullptr ? Ok()
                             : FieldError(fields.Place(name),
                                          "a trust policy has no resource; remove the member");
    }
    if (json == nullptr) return FieldError(place_, "must have Resource or NotResource");
    statement_.not_resource = name == "NotResource";
    PENSTOCK_ASSIGN(const std::vector<std::string> resources, Strings(*json, fields.Place(name)));
    for (const std::string& resource : resources) {
      if (type_ == Type::kIdentity && resource.find_first_not_of('*') != std::string::npos &&
          !resource.starts_with("arn:")) {
        return FieldError(fields.Place(name), "invalid resource \"" + resource +
                                                  "\": expected an ARN, for example "
                                                  "\"arn:aws:s3:::bucket/*\", or \"*\"");
      }
      statement_.resources.emplace_back(resource, Pattern::Wildcards::kYes, variables_);
    }
    return Ok();
  }

  Result<void> ReadConditions(const Json& json, const std::string& place) {
    if (!json.is_object()) return FieldError(place, "must be an object");
    for (const auto& [name, block] : json.items()) {
      const auto op = FindConditionOperator(name);
      const std::string operator_place = place + "." + name;
      if (!op) {
        return FieldError(operator_place, "unknown condition operator \"" + name +
                                              "\"; for example \"StringEquals\" is one");
      }
      if (!block.is_object()) return FieldError(operator_place, "must be an object");
      for (const auto& [key, values] : block.items())
        PENSTOCK_TRY(ReadCondition(*op, key, values, operator_place + "." + key));
    }
    return Ok();
  }

  Result<void> ReadCondition(const ConditionOperator& op, const std::string& key,
                             const Json& values, const std::string& place) {
    using Test = ConditionOperator::Test;
    if (key.empty()) return FieldError(place, "a condition key must have a name");
    const bool is_text = op.test <= Test::kStringLike || op.test == Test::kArnLike;
    const bool is_pattern = op.test == Test::kStringLike || op.test == Test::kArnLike;
    Condition condition{op, ContextKey(key), {}};
    const auto add = [&](const Json& json) -> Result<void> {
      const auto value = Scalar(json);
      if (!value) return FieldError(place, "values must be strings, numbers or booleans");
      const std::string problem = ConditionValueProblem(op, *value);
      if (!problem.empty() && type_ != Type::kResource) return FieldError(place, problem);
      condition.values.emplace_back(*value,
                                    is_pattern ? Pattern::Wildcards::kYes : Pattern::Wildcards::kNo,
                                    is_text ? variables_ : Pattern::Variables::kNo);
      return Ok();
    };
    if (values.is_array()) {
      for (const Json& value : values) PENSTOCK_TRY(add(value));
    } else {
      PENSTOCK_TRY(add(values));
    }
    statement_.conditions.push_back(std::move(condition));
    return Ok();
  }

  const Json& json_;
  const std::string place_;
  const Type type_;
  const Pattern::Variables variables_;
  Statement statement_;
};

// S3 accepts a bucket policy with a member that is given twice. The last one counts.
Result<JsonTree> ReadJson(std::string_view text, Type type) {
  if (type != Type::kResource) return ParseJsonTree(text);
  JsonTree tree(Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false));
  if (tree.root().is_discarded()) return FieldError("", "the policy is not valid JSON");
  return tree;
}

Result<std::shared_ptr<const Document>> Parse(std::string_view text, Type type) {
  if (text.size() > kMaxBytes) {
    return FieldError("", "the policy has " + std::to_string(text.size()) +
                              " bytes; the limit is " + std::to_string(kMaxBytes));
  }
  PENSTOCK_ASSIGN(const JsonTree tree, ReadJson(text, type));
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(tree.root(), "", {"Version", "Id", "Statement"}));
  PENSTOCK_ASSIGN(const auto version, fields.Text("Version"));
  if (version && *version != "2012-10-17" && *version != "2008-10-17") {
    return FieldError("Version",
                      "must be \"2012-10-17\" or \"2008-10-17\", not \"" + *version + "\"");
  }
  // The older version, which is the default, has no variables.
  const bool has_variables = version && *version == "2012-10-17";
  const Json* const statements = fields.Find("Statement");
  if (statements == nullptr || (statements->is_array() && statements->empty()))
    return FieldError("Statement", "the policy must have a statement");
  auto document = std::make_shared<Document>();
  const auto add = [&](const Json& json, std::string place) -> Result<void> {
    PENSTOCK_ASSIGN(Statement statement,
                    StatementReader(json, std::move(place), type, has_variables).Read());
    document->statements.push_back(std::move(statement));
    return Ok();
  };
  if (!statements->is_array()) {
    PENSTOCK_TRY(add(*statements, "Statement"));
    return std::shared_ptr<const Document>(std::move(document));
  }
  for (std::size_t i = 0; i < statements->size(); ++i)
    PENSTOCK_TRY(add((*statements)[i], "Statement[" + std::to_string(i) + "]"));
  return std::shared_ptr<const Document>(std::move(document));
}

}  // namespace

Result<std::shared_ptr<const Document>> ParseIdentityPolicy(std::string_view json) {
  return Parse(json, Type::kIdentity);
}

Result<std::shared_ptr<const Document>> ParseResourcePolicy(std::string_view json) {
  return Parse(json, Type::kResource);
}

Result<std::shared_ptr<const Document>> ParseTrustPolicy(std::string_view json) {
  return Parse(json, Type::kTrust);
}

}  // namespace penstock::emulator::policy
