// A scenario as its author wrote it: rules, in order.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULE_H_
#define PENSTOCK_EMULATOR_FAULTS_RULE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/faults/action.h"
#include "emulator/faults/condition.h"

namespace penstock::emulator::faults {

// Whose count `Limit::times` is.
enum class Per : std::uint8_t { kScenario, kInvocation, kClient, kKey, kConnection };

struct Limit {
  std::optional<std::uint64_t> times;  // fires so often, and never again
  Per per = Per::kScenario;            // kInvocation: Invocations'
  // Of any `of` requests in a row that match, at most `most` meet it.
  struct Budget {
    std::uint32_t most = 0;
    std::uint32_t of = 0;  // at most 1,024
  };
  std::optional<Budget> budget;
  // since the scenario began, in the namespace's time
  std::optional<std::chrono::nanoseconds> time_to_live;
};

struct Rule {
  std::string id;  // of this rule alone
  Condition when;
  std::vector<TimedAction> actions;  // at least one; in the order of their points
  Limit limit;
  // Rules behind a final one are not looked at for the same request. Unless said otherwise one is
  // final that answers in the operation's place or ends the connection.
  bool final = false;
  bool must_fire = true;  // a scenario is not complete before it has fired
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<Rule> rules;  // at most 1,000
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULE_H_
