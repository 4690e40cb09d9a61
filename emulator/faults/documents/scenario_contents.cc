#include "emulator/faults/documents/scenario_contents.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "emulator/faults/rules/pattern.h"
#include "emulator/faults/scenario/running_scenario.h"

namespace penstock::emulator::faults {
namespace {

constexpr std::size_t kMaxRules = 1'000;
constexpr ScenarioContents kMax{
    .actions = 20'000, .operations = 1'000, .expressions = 1'000, .expression_bytes = 64 << 10};

// More than S3 has operations.
constexpr std::size_t kMaxExpandedRules = 128;
// Strings, patterns and lists of numbers that are made of a document. The worst one: a pattern of
// three characters ("",) in a list that has grown to twice its size.
constexpr std::uint64_t kBytesPerTextByte = 64;
constexpr std::uint64_t kBytesPerAction = 2 * sizeof(TimedAction);

Result<void> CheckCount(std::size_t count, std::size_t most, std::string_view what) {
  if (count <= most) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument, "the scenario has " + std::to_string(count) +
                                                      " " + std::string(what) + "; the limit is " +
                                                      std::to_string(most));
}

std::size_t MaxExpandedOf(const Json& name) {
  if (!name.is_string()) return 0;  // refused later
  const bool one = name.get_ref<const std::string&>().find_first_of("*?\\@") == std::string::npos;
  return one ? 1 : kMaxExpandedRules;
}

void CountOperations(const Json& names, ScenarioContents& contents) {
  contents.operations += names.is_array() ? names.size() : 1;
  std::size_t expanded = MaxExpandedOf(names);
  if (names.is_array()) {
    for (const Json& name : names) expanded += MaxExpandedOf(name);
  }
  contents.expanded_operations += std::min(expanded, kMaxExpandedRules);  // each operation once
}

// Recurses as deep as the document, at most kMaxJsonDepth levels.
void Count(const Json& json, ScenarioContents& contents) {
  if (json.is_array()) {
    for (const Json& value : json) Count(value, contents);
  }
  if (!json.is_object()) return;
  for (const auto& [name, value] : json.items()) {
    if (name == "do") contents.actions += value.is_array() ? value.size() : 1;
    if (name == "operation") CountOperations(value, contents);
    if (name == "regex" && value.is_string()) {
      ++contents.expressions;
      contents.expression_bytes += value.get_ref<const std::string&>().size();
    }
    Count(value, contents);
  }
}

bool OfAnyOperation(const Json& rule) {
  const auto when = rule.is_object() ? rule.find("when") : rule.end();
  return when == rule.end() || !when->is_object() || !when->contains("operation");
}

}  // namespace

ScenarioContents CountContents(const Json& json) {
  ScenarioContents contents;
  Count(json, contents);
  return contents;
}

Result<void> CheckRuleCount(std::size_t rules) { return CheckCount(rules, kMaxRules, "rules"); }

Result<void> CheckContents(const ScenarioContents& contents) {
  PENSTOCK_TRY(CheckCount(contents.actions, kMax.actions, "actions"));
  PENSTOCK_TRY(CheckCount(contents.operations, kMax.operations, "names of operations"));
  PENSTOCK_TRY(CheckCount(contents.expressions, kMax.expressions, "regular expressions"));
  return CheckCount(contents.expression_bytes, kMax.expression_bytes,
                    "bytes of regular expressions");
}

std::uint64_t MaxMemoryOf(const ScenarioContents& contents, const Json& rules,
                          std::size_t text_bytes) {
  const auto of_any = std::count_if(rules.begin(), rules.end(), OfAnyOperation);
  return RunningScenario::MaxMemoryOf({.rules = rules.size(),
                                       .rules_of_any_operation = static_cast<std::size_t>(of_any),
                                       .operations = contents.expanded_operations}) +
         contents.actions * kBytesPerAction + text_bytes * kBytesPerTextByte +
         contents.expressions * Pattern::kMaxRegexBytes;
}

}  // namespace penstock::emulator::faults
