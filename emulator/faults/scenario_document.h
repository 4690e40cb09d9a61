// A scenario as JSON: the one form that every way in understands (docs/faults.md, faults.schema.json).
#ifndef PENSTOCK_EMULATOR_FAULTS_SCENARIO_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_SCENARIO_DOCUMENT_H_

#include <string>
#include <string_view>

#include "emulator/faults/running_scenario.h"

namespace penstock::emulator::faults {

// {"name": ..., "seed": ..., "rules": [{"id", "when", "do", "limit", "final", "must_fire"}]}, or a list of rules alone. Rules
// without an id are called "rule-1", "rule-2" by their place. kInvalidArgument names the place ("rules[2].when.part").
Result<Scenario> ParseScenario(std::string_view json);

// The account of a scenario as one JSON object.
std::string AccountJson(const ScenarioAccount& account);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_SCENARIO_DOCUMENT_H_
