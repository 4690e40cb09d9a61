// Scenarios that jobs meet in practice, by name (spec/emulator.md §2.3).
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_

#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator::faults {

struct NamedScenario {
  std::string_view name;
  std::string_view about;  // one sentence
  std::string_view rules;  // JSON, as a scenario's `rules`
};

// In the order of their names.
const std::vector<NamedScenario>& NamedScenarios();

// All of them as one JSON object: {"scenarios": [{"name", "about", "rules"}]}.
std::string NamedScenariosJson();

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_
