// Checks whether the actions of a rule can all happen to one request.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_

#include <string>

#include "emulator/faults/rule.h"

namespace penstock::emulator::faults {

// Describes the first pair of conflicting actions: the earlier one prevents the later one from
// happening, so the rule would never fire and its `times` would never be reached. Returns an empty
// string if there is none.
std::string ConflictingActions(const Rule& rule);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_
