// Answers that faults give in an operation's place.
#ifndef PENSTOCK_EMULATOR_FAULTS_IN_PLACE_H_
#define PENSTOCK_EMULATOR_FAULTS_IN_PLACE_H_

#include "emulator/api/exchange.h"
#include "emulator/faults/action.h"

namespace penstock::emulator::faults {

// Each replaces the response.
void AnswerWithError(api::Exchange& exchange, const ErrorAction& action);
// The status line leaves at once, the error when its time has come.
void AnswerWithLateError(api::Exchange& exchange, const LateErrorAction& action);
void AnswerWithRedirect(api::Exchange& exchange, const RedirectAction& action);
void RefuseCredentials(api::Exchange& exchange, const CredentialsAction& action);
// 417 Expectation Failed.
void RefuseToContinue(api::Exchange& exchange);
// No answer at all: the connection ends instead. `done` is called when it is about to.
void DropConnection(api::Exchange& exchange, const DropAction& action, std::function<void()> done);

// The steps by which the connection ends at a place of the answer's.
void AddDrop(api::Delivery& delivery, api::DeliveryStep::Place place, std::uint64_t offset, const DropAction& action,
             std::function<void()> done);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_IN_PLACE_H_
