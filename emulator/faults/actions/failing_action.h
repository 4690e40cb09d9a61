// Decides which actions make an attempt fail, so that a client retries.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_

#include "emulator/faults/action.h"

namespace penstock::emulator::faults {

// Whether `action` ends the attempt without a usable response, in a way that clients retry: a lost
// connection, a cut or corrupted body, or a transient error. Returns false for actions that delay
// or misreport a response that arrives, and for permanent errors such as 403 and 404.
bool FailsAttempt(const Action& action);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_
