// Whether the actions of a rule can all happen to one request.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_

#include <string>

#include "emulator/faults/rule.h"

namespace penstock::emulator::faults {

// Words for two actions of which one keeps the other from ever happening: such a rule never fires,
// and its `times` never end. Empty: there are none.
std::string ConflictingActions(const Rule& rule);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTION_CONFLICTS_H_
