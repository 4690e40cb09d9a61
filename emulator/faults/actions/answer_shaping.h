// What faults make of an answer: other headers, other bytes, and a delivery with pauses, at a pace,
// or broken off.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_ANSWER_SHAPING_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_ANSWER_SHAPING_H_

#include <chrono>
#include <memory>

#include "emulator/faults/fault_plan.h"
#include "emulator/faults/pacer.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// The actions of `plan` from after_commit on, and the one that takes the operation's place. Waits
// for nothing. What happens while the answer leaves is counted then.
void ShapeAnswer(s3::Exchange& exchange, const std::shared_ptr<FaultPlan>& plan, Pacers& pacers);

// The operation did not do what it was asked to.
bool IsRefusal(const s3::Response& response);

// What a latency is for the request that drew it.
std::chrono::nanoseconds TimeOf(const LatencyAction& latency, const s3::Exchange& exchange,
                                const Ticket& ticket);

// Who shares the pace, by name.
std::shared_ptr<Pacer> FindPacer(const PaceAction& pace, const s3::Exchange& exchange,
                                 const Ticket& ticket, Pacers& pacers);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_ANSWER_SHAPING_H_
