// Responses that faults send instead of the operation's response.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLACEMENT_RESPONSE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLACEMENT_RESPONSE_H_

#include "emulator/faults/rules/action.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Each function replaces exchange.response.
void ApplyError(s3::Exchange& exchange, const ErrorAction& action);
// Sends the status line at once and the error after its delay.
void ApplyLateError(s3::Exchange& exchange, const LateErrorAction& action);
void ApplyRedirect(s3::Exchange& exchange, const RedirectAction& action);
void RefuseCredentials(s3::Exchange& exchange, const CredentialsAction& action);
// Responds with 417 Expectation Failed.
void RefuseToContinue(s3::Exchange& exchange);
// Sends no response; the connection ends instead. `done` is called just before that.
void DropConnection(s3::Exchange& exchange, const DropAction& action, std::function<void()> done);

// Adds the delivery steps that end the connection at the given place of the response.
void AddDrop(s3::Delivery& delivery, s3::DeliveryStep::Place place, std::uint64_t offset,
             const DropAction& action, std::function<void()> done);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_REPLACEMENT_RESPONSE_H_
