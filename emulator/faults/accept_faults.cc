#include "emulator/faults/accept_faults.h"

#include <memory>
#include <utility>

namespace penstock::emulator::faults {
namespace {

using Kind = Greeting::Kind;

// Whether it happened: an alert needs TLS, a limit to be reached.
bool Do(const Deed& deed, const api::Connection& connection, std::size_t others, Greeting& greeting) {
  if (const auto* drop = std::get_if<DropAction>(&deed)) {
    greeting.kind = drop->kind == DropKind::kReset ? Kind::kReset : Kind::kFin;
    return true;
  }
  if (std::holds_alternative<TlsAbortAction>(deed)) {
    if (connection.tls) greeting.kind = Kind::kRefuseTls;
    return connection.tls;
  }
  if (const auto* goaway = std::get_if<GoAwayAction>(&deed)) {
    greeting.most_requests = goaway->requests;
    return true;
  }
  const auto* limit = std::get_if<ConnectionLimitAction>(&deed);
  if (limit == nullptr || others < limit->most) return false;
  greeting.kind = Kind::kReset;
  return true;
}

}  // namespace

Greeting Greet(const FaultDesk& desk, api::Connection connection, std::size_t others) {
  Greeting greeting;
  if (desk.idle()) return greeting;
  const auto found = desk.Find({});
  if (!found.ok() || !*found) return greeting;
  const api::RequestHead nothing;
  const api::Exchange exchange{.request = nothing, .connection = connection};
  for (const auto& ticket : (*found)->MeetConnection(FactsOf(exchange), desk.clock().Now())) {
    for (const Action& action : ticket->rule().deeds) {
      if (Do(action.deed, connection, others, greeting)) ticket->Done();
    }
  }
  return greeting;
}

}  // namespace penstock::emulator::faults
