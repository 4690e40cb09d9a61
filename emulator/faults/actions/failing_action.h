// Which actions fail an attempt, so that a client makes another one.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_

#include "emulator/faults/action.h"

namespace penstock::emulator::faults {

// What ends the attempt without what it asked for, in a way that clients retry: a lost connection,
// a cut or wrong body, an error that is not for good. False for what delays or misreports an answer
// that arrives, and for errors that another attempt would not mend (404, 403).
bool FailsAttempt(const Action& action);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAILING_ACTION_H_
