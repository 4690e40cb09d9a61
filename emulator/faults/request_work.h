// Which of the latency profile's kinds of work a request is.
#ifndef PENSTOCK_EMULATOR_FAULTS_REQUEST_WORK_H_
#define PENSTOCK_EMULATOR_FAULTS_REQUEST_WORK_H_

#include "emulator/api/exchange.h"
#include "emulator/throttle/latency_profile.h"

namespace penstock::emulator::faults {

throttle::Work WorkOf(const api::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_REQUEST_WORK_H_
