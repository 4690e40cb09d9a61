#include "emulator/faults/documents/scenario_document.h"

#include <algorithm>
#include <utility>

#include "emulator/faults/documents/action_document.h"
#include "emulator/faults/documents/condition_document.h"
#include "emulator/faults/documents/named_scenarios.h"
#include "emulator/faults/documents/scenario_contents.h"
#include "emulator/faults/rules/connection_rules.h"
#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator::faults {
namespace {

constexpr std::size_t kMaxActions = 100;  // of a rule: each is compared with each

// Where a scenario comes from, and what its memory is charged to.
struct Source {
  std::size_t text_bytes = 0;
  std::shared_ptr<store::MemoryLimit> limit = nullptr;  // null: not charged
};

Result<void> ReadActions(const JsonFields& fields, Rule& rule) {
  const Json* const actions = fields.Find("do");
  const std::string place = fields.Place("do");
  if (actions == nullptr)
    return FieldError(place, "is missing: add an action or a list of actions");
  if (!actions->is_array()) {
    PENSTOCK_ASSIGN(TimedAction timed, ReadAction(*actions, place));
    rule.actions.push_back(std::move(timed));
    return Ok();
  }
  if (actions->size() > kMaxActions) {
    return FieldError(place, "has " + std::to_string(actions->size()) + " actions; the limit is " +
                                 std::to_string(kMaxActions));
  }
  for (std::size_t i = 0; i < actions->size(); ++i) {
    PENSTOCK_ASSIGN(TimedAction timed,
                    ReadAction((*actions)[i], place + "[" + std::to_string(i) + "]"));
    rule.actions.push_back(std::move(timed));
  }
  const auto point = [](const TimedAction& timed) {
    return std::pair(timed.at.stage, timed.at.offset);
  };
  std::stable_sort(rule.actions.begin(), rule.actions.end(),
                   [&](const TimedAction& a, const TimedAction& b) { return point(a) < point(b); });
  return Ok();
}

Result<Rule> ReadRule(const Json& json, std::size_t index) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, "rules[" + std::to_string(index) + "]",
                                   {"id", "when", "do", "limit", "final", "must_fire"}));
  Rule rule;
  PENSTOCK_ASSIGN(const std::optional<std::string> id, fields.Text("id"));
  rule.id = id ? *id : "rule-" + std::to_string(index + 1);
  if (rule.id.find(',') != std::string::npos) {
    return FieldError(
        fields.Place("id"),
        "'" + rule.id +
            "' contains a comma, which separates ids in the journal; use another character");
  }
  if (const Json* when = fields.Find("when")) {
    PENSTOCK_ASSIGN(rule.when, ReadCondition(*when, fields.Place("when")));
  }
  PENSTOCK_TRY(ReadActions(fields, rule));
  if (const Json* limit = fields.Find("limit")) {
    PENSTOCK_ASSIGN(rule.limit, ReadLimit(*limit, fields.Place("limit")));
  }
  PENSTOCK_ASSIGN(const std::optional<bool> final, fields.Flag("final"));
  rule.final = final.value_or(std::any_of(rule.actions.begin(), rule.actions.end(), IsTerminal));
  PENSTOCK_ASSIGN(const std::optional<bool> must_fire, fields.Flag("must_fire"));
  // A random rule may never fire.
  rule.must_fire = must_fire.value_or(rule.when.probability >= 1);
  return rule;
}

Result<Scenario> ReadScenario(const Json& json, const Source& source);

// Reads {"scenario": "hot-prefix", "seed": 1, "bucket": ..., "key": ...}. `bucket` and `key` become
// conditions of every rule.
Result<Scenario> ReadNamed(const Json& json, const Source& source) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, "", {"scenario", "seed", "bucket", "key"}));
  PENSTOCK_ASSIGN(const std::string name, fields.RequiredText("scenario"));
  std::string known;
  for (const NamedScenario& named : NamedScenarios()) {
    known += (known.empty() ? "" : ", ") + std::string(named.name);
    if (named.name != name) continue;
    Json rules = Json::parse(named.rules);
    for (Json& rule : rules) {
      for (const char* filter : {"bucket", "key"}) {
        if (fields.Has(filter)) rule["when"][filter] = *fields.Find(filter);
      }
    }
    Json document = {{"name", name}, {"rules", std::move(rules)}};
    if (fields.Has("seed")) document["seed"] = *fields.Find("seed");
    return ReadScenario(
        document, {.text_bytes = named.rules.size() + document["rules"].size() * source.text_bytes,
                   .limit = source.limit});
  }
  return FieldError("scenario", "unknown scenario '" + name + "': expected one of " + known);
}

// Charged before anything is built.
Result<std::shared_ptr<const store::LastingCharge>> Charge(const ScenarioContents& contents,
                                                           const Json& rules,
                                                           const Source& source) {
  if (!source.limit) return std::shared_ptr<const store::LastingCharge>();
  auto charge = std::make_shared<store::LastingCharge>(source.limit);
  PENSTOCK_TRY(charge->GrowTo(MaxMemoryOf(contents, rules, source.text_bytes)));
  return std::shared_ptr<const store::LastingCharge>(std::move(charge));
}

Result<Scenario> ReadScenario(const Json& json, const Source& source) {
  if (json.is_object() && json.contains("scenario")) return ReadNamed(json, source);
  const ScenarioContents contents = CountContents(json);
  PENSTOCK_TRY(CheckContents(contents));
  Scenario scenario;
  const Json* rules = &json;
  if (!json.is_array()) {
    PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, "", {"name", "seed", "rules"}));
    PENSTOCK_ASSIGN(const std::optional<std::string> name, fields.Text("name"));
    if (name) scenario.name = *name;
    PENSTOCK_ASSIGN(const std::optional<std::uint64_t> seed, fields.Whole("seed"));
    if (seed) scenario.seed = *seed;
    PENSTOCK_ASSIGN(rules, fields.List("rules"));
    if (rules == nullptr) return FieldError("rules", "is missing: a scenario is a list of rules");
  }
  PENSTOCK_TRY(CheckRuleCount(rules->size()));
  PENSTOCK_ASSIGN(scenario.charge, Charge(contents, *rules, source));
  scenario.rules.reserve(rules->size());
  for (std::size_t i = 0; i < rules->size(); ++i) {
    PENSTOCK_ASSIGN(Rule rule, ReadRule((*rules)[i], i));
    scenario.rules.push_back(std::move(rule));
  }
  PENSTOCK_TRY(CheckScenario(scenario));
  return scenario;
}

}  // namespace

Result<Scenario> ParseScenario(std::string_view text, std::shared_ptr<store::MemoryLimit> limit) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(text));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(Scenario scenario,
                  ReadScenario(json, {.text_bytes = text.size(), .limit = std::move(limit)}));
  scenario.document = std::make_shared<const std::string>(text);  // charged with the rest
  return scenario;
}

namespace {

// Moves a rule, or an action wrapped in a rule, to the end of `rules`.
void AddInlineRule(Json& rules, Json& one) {
  const bool action_alone = one.is_object() && !one.contains("do");
  if (!action_alone) return rules.push_back(std::move(one));
  rules.push_back(EmptyObject(1));
  rules.back()["do"] = std::move(one);
}

Result<Scenario> ReadInlineFaults(Json& json, const Source& source) {
  if (json.is_object() && (json.contains("rules") || json.contains("scenario")))
    return ReadScenario(json, source);
  JsonTree rules(Json::array());
  if (json.is_array()) {
    PENSTOCK_TRY(CheckRuleCount(json.size()));
    for (Json& one : json) AddInlineRule(rules.root(), one);
  } else {
    AddInlineRule(rules.root(), json);
  }
  return ReadScenario(rules.root(), source);
}

}  // namespace

Result<Scenario> ParseInlineFaults(std::string_view text,
                                   std::shared_ptr<store::MemoryLimit> limit) {
  PENSTOCK_ASSIGN(JsonTree tree, ParseJsonTree(text));
  PENSTOCK_ASSIGN(Scenario scenario, ReadInlineFaults(tree.root(), {.text_bytes = text.size(),
                                                                    .limit = std::move(limit)}));
  PENSTOCK_TRY(RefuseConnectionRules(scenario, "the connection was accepted before the request"));
  return scenario;
}

namespace {

// `given`: an action or its name. It is moved from.
Result<void> ReadRetryRule(const std::string& operation, std::size_t index, Json& given,
                           Json& rule) {
  rule["id"] = operation + "-" + std::to_string(index + 1);
  Json& when = rule["when"] = EmptyObject(1);
  when["operation"] = operation;
  Json& action = rule["do"];
  if (given.is_string()) {
    action = EmptyObject(1);
    action[given.get_ref<const std::string&>()] = Json::object();
  } else {
    action = std::move(given);
  }
  // Validates the action here, so that errors name the author's field.
  PENSTOCK_TRY(ReadAction(action, operation + "[" + std::to_string(index) + "]"));
  Json& limit = rule["limit"] = EmptyObject(1);
  limit["times"] = 1;
  rule["final"] = true;
  return Ok();
}

}  // namespace

Result<Scenario> ParseRetryTest(std::string_view text, std::shared_ptr<store::MemoryLimit> limit) {
  PENSTOCK_ASSIGN(JsonTree tree, ParseJsonTree(text));
  Json& json = tree.root();
  if (!json.is_object())
    return FieldError(
        "",
        "must map operations to lists of actions, for example {\"GetObject\": [\"slow_down\"]}");
  if (json.empty())
    return FieldError("",
                      "has no operation; add one, for example {\"GetObject\": [\"slow_down\"]}");
  std::size_t count = 0;
  for (const auto& [operation, actions] : json.items()) count += actions.size();
  PENSTOCK_TRY(CheckRuleCount(count));
  PENSTOCK_TRY(CheckContents(CountContents(json)));
  JsonTree rules(Json::array());
  for (auto& [operation, actions] : json.get_ref<Json::object_t&>()) {
    if (const auto known = ExpandOperation(operation); !known.ok())
      return FieldError("", known.error().message);
    if (actions.is_array() && actions.empty())
      return FieldError(operation, "is empty; add an action, or remove it");
    if (!actions.is_array()) return FieldError(operation, "must be a list of actions");
    for (std::size_t i = 0; i < actions.size(); ++i) {
      rules.root().push_back(EmptyObject(5));
      PENSTOCK_TRY(ReadRetryRule(operation, i, actions[i], rules.root().back()));
    }
  }
  return ReadScenario(rules.root(), {.text_bytes = text.size(), .limit = std::move(limit)});
}

namespace {

Json AccountFields(const ScenarioAccount& account) {
  Json rules = Json::array();
  for (const RuleAccount& rule : account.rules) {
    rules.push_back({{"id", rule.id},
                     {"matched", rule.matched},
                     {"fired", rule.fired},
                     {"under_way", rule.under_way},
                     {"complete", rule.complete},
                     {"request_ids", rule.request_ids}});
    if (rule.remaining) rules.back()["remaining"] = *rule.remaining;
  }
  return {{"name", account.name},   {"seed", account.seed},         {"requests", account.requests},
          {"fired", account.fired}, {"complete", account.complete}, {"rules", std::move(rules)}};
}

}  // namespace

std::string AccountJson(const ScenarioAccount& account) {
  Json document = AccountFields(account);
  document["replaced"] = Json::array();
  for (const ScenarioAccount& replaced : account.replaced)
    document["replaced"].push_back(AccountFields(replaced));
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (account.document) {
    text.pop_back();  // The document is JSON, so it needs no copy in a tree.
    text.append(",\"scenario\":").append(*account.document).append("}");
  }
  return text;
}

}  // namespace penstock::emulator::faults
