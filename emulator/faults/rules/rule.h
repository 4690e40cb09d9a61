// A scenario as written by its author: an ordered list of rules.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_RULE_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_RULE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/faults/rules/action.h"
#include "emulator/faults/rules/condition.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::faults {

// The scope in which `Limit::times` counts.
enum class Per : std::uint8_t { kScenario, kInvocation, kClient, kKey, kConnection };

struct Limit {
  std::optional<std::uint64_t> times;  // The rule fires at most so often.
  Per per = Per::kScenario;            // kInvocation: see invocations.h.
  // Of any `of` consecutive matching requests, the rule applies to at most `most`.
  struct Budget {
    std::uint32_t most = 0;
    std::uint32_t of = 0;  // At most 1,024.
  };
  std::optional<Budget> budget;
  // Time since the start of the scenario, in the namespace's time.
  std::optional<std::chrono::nanoseconds> time_to_live;
};

struct Rule {
  std::string id;  // Unique within the scenario.
  Condition when;
  std::vector<TimedAction> actions;  // At least one, ordered by point.
  Limit limit;
  // Rules after a final rule are not evaluated for the same request. By default a rule is final if
  // it replaces the operation's response or ends the connection.
  bool final = false;
  bool must_fire = true;  // The scenario is incomplete until this rule has fired.
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<Rule> rules;  // At most 1,000.
  // As its author wrote it, JSON. Null: it was not given as a document of its own.
  std::shared_ptr<const std::string> document = {};
  // For its memory, while a copy of it exists. Null: not charged.
  std::shared_ptr<const store::LastingCharge> charge = {};
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_RULE_H_
