// Answers that faults give in an operation's place.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_IN_PLACE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_IN_PLACE_H_

#include "emulator/faults/action.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Each replaces the response.
void AnswerWithError(s3::Exchange& exchange, const ErrorAction& action);
// The status line leaves at once, the error when its time has come.
void AnswerWithLateError(s3::Exchange& exchange, const LateErrorAction& action);
void AnswerWithRedirect(s3::Exchange& exchange, const RedirectAction& action);
void RefuseCredentials(s3::Exchange& exchange, const CredentialsAction& action);
// 417 Expectation Failed.
void RefuseToContinue(s3::Exchange& exchange);
// No answer at all: the connection ends instead. `done` is called when it is about to.
void DropConnection(s3::Exchange& exchange, const DropAction& action, std::function<void()> done);

// The steps by which the connection ends at a place of the answer's.
void AddDrop(s3::Delivery& delivery, s3::DeliveryStep::Place place, std::uint64_t offset,
             const DropAction& action, std::function<void()> done);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_IN_PLACE_H_
