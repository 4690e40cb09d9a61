#include "emulator/faults/rules/connection_rules.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace penstock::emulator::faults {

bool IsOfConnections(const Rule& rule) {
  return !rule.actions.empty() && rule.actions.front().at.stage == Stage::kAccept;
}

Result<void> RefuseConnectionRules(const Scenario& scenario, std::string_view reason) {
  const auto found = std::find_if(scenario.rules.begin(), scenario.rules.end(), IsOfConnections);
  if (found == scenario.rules.end()) return Ok();
  return Error::Make(
      ErrorKind::kInvalidArgument,
      "rule '" + found->id +
          "': its actions happen at accept, which never occurs here: " + std::string(reason) +
          ". Only the scenario of the default namespace applies to connections: set the rule there "
          "with PUT /_penstock/faults (in a test, s3_server.faults().set(...))");
}

Result<void> RefuseTlsRules(const Scenario& scenario) {
  for (const Rule& rule : scenario.rules) {
    for (const TimedAction& timed : rule.actions) {
      const bool aborts = std::holds_alternative<TlsAbortAction>(timed.action);
      if (!aborts && !std::holds_alternative<TlsCertificateAction>(timed.action)) continue;
      return Error::Make(ErrorKind::kInvalidArgument,
                         "rule '" + rule.id + "': " + (aborts ? "tls_abort" : "tls_certificate") +
                             " happens in a TLS handshake, and would never happen here: this "
                             "emulator serves plain HTTP. Start it "
                             "with --tls-cert and --tls-key (in Python, tls=(certificate, key)), "
                             "or remove the rule");
    }
  }
  return Ok();
}

void DropConnectionRules(Scenario& scenario) {
  // The document has these rules, so it is no longer that of the scenario.
  if (std::erase_if(scenario.rules, IsOfConnections) > 0) scenario.document.reset();
}

}  // namespace penstock::emulator::faults
