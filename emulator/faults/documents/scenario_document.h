// JSON of scenarios, the same for every interface (docs/reference/faults.md, faults.schema.json).
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_

#include <memory>
#include <string>
#include <string_view>

#include "emulator/faults/scenario/running_scenario.h"

namespace penstock::emulator::faults {

// Parses {"name": ..., "seed": ..., "rules": [{"id", "when", "do", "limit", "final",
// "must_fire"}]}, or a list of rules. Rules without an id are named "rule-1", "rule-2", ... by
// position. Returns kInvalidArgument that names the field ("rules[2].when.part").
//
// `limit`: the memory limit that the scenario is charged to; null: none. Returns
// MemoryLimit::Exceeded, before anything is built.
Result<Scenario> ParseScenario(std::string_view json,
                               std::shared_ptr<store::MemoryLimit> limit = nullptr);

// Parses the x-penstock-fault header: a scenario, a named scenario, a rule, an action, or a list of
// rules or actions. `limit`: as in ParseScenario.
Result<Scenario> ParseInlineFaults(std::string_view json,
                                   std::shared_ptr<store::MemoryLimit> limit = nullptr);

// Parses {"GetObject": ["slow_down", {"reset": {}, "at": "body_out@1024"}], "UploadPart": [...]}.
// The actions of an operation apply to its requests in order, each once. An action without members
// may be given as its name. Returns kInvalidArgument for an unknown operation. `limit`: as in
// ParseScenario.
Result<Scenario> ParseRetryTest(std::string_view json,
                                std::shared_ptr<store::MemoryLimit> limit = nullptr);

// Returns the account of a scenario as one JSON object. `scenario` is its document, unless it has
// none; replaced scenarios are without.
std::string AccountJson(const ScenarioAccount& account);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_DOCUMENT_H_
