// Connection rules: rules whose actions happen at accept, before a client has sent an access key or
// a request.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_CONNECTION_RULES_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_CONNECTION_RULES_H_

#include <string_view>

#include "emulator/faults/rules/rule.h"
#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// Whether `rule` is a connection rule. `rule` must pass CheckScenario.
bool IsOfConnections(const Rule& rule);

// For scenarios that no connection uses. Returns kInvalidArgument if `scenario` has a connection
// rule; the message names the first one, `reason`, and where to set it instead.
Result<void> RefuseConnectionRules(const Scenario& scenario, std::string_view reason);

// For an emulator without TLS: kInvalidArgument names the first rule with tls_abort or
// tls_certificate, and the fix.
Result<void> RefuseTlsRules(const Scenario& scenario);

// Removes the connection rules of `scenario`.
void DropConnectionRules(Scenario& scenario);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_CONNECTION_RULES_H_
