// Returns the kind of work in a latency profile that a request is.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_REQUEST_WORK_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_REQUEST_WORK_H_

#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/latency_profile.h"

namespace penstock::emulator::faults {

traffic::Work WorkOf(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_REQUEST_WORK_H_
