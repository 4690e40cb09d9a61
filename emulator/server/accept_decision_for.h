// Converts a fault of a connection into the HTTP server's decision about it.
#ifndef PENSTOCK_EMULATOR_SERVER_ACCEPT_DECISION_FOR_H_
#define PENSTOCK_EMULATOR_SERVER_ACCEPT_DECISION_FOR_H_

#include "emulator/faults/actions/accept_faults.h"
#include "emulator/http/socket/accept_decision.h"

namespace penstock::emulator::server {

http::AcceptDecision ToAcceptDecision(const faults::AcceptFault& fault);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ACCEPT_DECISION_FOR_H_
