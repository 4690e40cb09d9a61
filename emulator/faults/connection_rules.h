// Rules of connections: what happens at accept, before anybody has named an access key or asked for
// anything.
#ifndef PENSTOCK_EMULATOR_FAULTS_CONNECTION_RULES_H_
#define PENSTOCK_EMULATOR_FAULTS_CONNECTION_RULES_H_

#include <string_view>

#include "emulator/faults/rule.h"
#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// `rule` has an action, and says nothing that CheckScenario refuses.
bool IsOfConnections(const Rule& rule);

// For scenarios that no connection ever meets: kInvalidArgument names the first such rule, `reason`
// and where it belongs.
Result<void> RefuseConnectionRules(const Scenario& scenario, std::string_view reason);

// For an emulator without TLS: kInvalidArgument names the first rule with tls_abort or
// tls_certificate, and the fix.
Result<void> RefuseTlsRules(const Scenario& scenario);

// Leaves the others.
void DropConnectionRules(Scenario& scenario);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_CONNECTION_RULES_H_
