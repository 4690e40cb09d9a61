// Predefined scenarios of typical failures of training jobs.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_

#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator::faults {

struct NamedScenario {
  std::string_view name;
  std::string_view about;  // One sentence.
  std::string_view rules;  // JSON of a scenario's `rules`.
};

// Sorted by name.
const std::vector<NamedScenario>& NamedScenarios();

// Returns all of them as one JSON object: {"scenarios": [{"name", "about", "rules"}]}.
std::string NamedScenariosJson();

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_NAMED_SCENARIOS_H_
