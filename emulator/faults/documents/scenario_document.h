// A scenario as JSON: the one form that every way in understands (docs/faults.md,
// faults.schema.json).
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_

#include <string>
#include <string_view>

#include "emulator/faults/running_scenario.h"

namespace penstock::emulator::faults {

// {"name": ..., "seed": ..., "rules": [{"id", "when", "do", "limit", "final", "must_fire"}]}, or a
// list of rules alone. Rules without an id are called "rule-1", "rule-2" by their place.
// kInvalidArgument names the place ("rules[2].when.part").
Result<Scenario> ParseScenario(std::string_view json);

// What a request brings with it: a scenario, or one rule alone, or one action alone, or a list of
// rules or actions.
Result<Scenario> ParseInlineFaults(std::string_view json);

// {"GetObject": ["slow_down", {"reset": {}, "at": "body_out@1024"}], "UploadPart": [...]}: each
// operation's requests meet its actions one after the other, each once. An action without anything
// to say may be its name alone. kInvalidArgument for a name that is no operation.
Result<Scenario> ParseRetryTest(std::string_view json);

// The account of a scenario as one JSON object.
std::string AccountJson(const ScenarioAccount& account);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_
