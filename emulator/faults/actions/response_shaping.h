// Applies faults to a response: changed headers or bytes, and a delivery that pauses, is paced, or
// breaks off.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_RESPONSE_SHAPING_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_RESPONSE_SHAPING_H_

#include <chrono>
#include <memory>

#include "emulator/faults/registry/fault_plan.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/pacer.h"

namespace penstock::emulator::faults {

// Applies the actions of `plan` from after_commit on, and the one that replaces the operation's
// response. Does not block. Actions that happen during the transfer are counted then.
void ShapeResponse(s3::Exchange& exchange, const std::shared_ptr<FaultPlan>& plan,
                   traffic::Pacers& pacers);

// Whether the response is an error or 304: the operation did not succeed.
bool IsRefusal(const s3::Response& response);

// Returns the latency that the ticket's draw gives for the request.
std::chrono::nanoseconds LatencyOf(const LatencyAction& latency, const s3::Exchange& exchange,
                                   const Ticket& ticket);

// Returns the pacer for the scope of `pace`. Requests in the same scope share it.
std::shared_ptr<traffic::Pacer> FindPacer(const PaceAction& pace, const s3::Exchange& exchange,
                                          const Ticket& ticket, traffic::Pacers& pacers);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_RESPONSE_SHAPING_H_
