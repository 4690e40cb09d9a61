// What a scenario's document contains, counted before anything is built from it.
//
// An `operation` list of globs and a list of regular expressions take far more processor time and
// memory than their text.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_CONTENTS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_CONTENTS_H_

#include <cstddef>
#include <cstdint>

#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator::faults {

struct ScenarioContents {
  std::size_t actions = 0;
  std::size_t operations = 0;           // as given
  std::size_t expanded_operations = 0;  // at most, once globs and classes are expanded
  std::size_t expressions = 0;
  std::size_t expression_bytes = 0;
};

ScenarioContents CountContents(const Json& json);

// kInvalidArgument names the count that is beyond its limit, and the limit.
Result<void> CheckRuleCount(std::size_t rules);
Result<void> CheckContents(const ScenarioContents& contents);

// The most bytes that a running scenario takes, without its counts of keys and clients. `rules`:
// the list of its rules. `text_bytes`: the length of its document.
std::uint64_t MaxMemoryOf(const ScenarioContents& contents, const Json& rules,
                          std::size_t text_bytes);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_SCENARIO_CONTENTS_H_
