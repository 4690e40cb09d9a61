#include "emulator/faults/actions/accept_faults.h"

#include <memory>
#include <utility>

namespace penstock::emulator::faults {
namespace {

using Kind = Greeting::Kind;

// Whether it happened: an alert needs TLS, a limit to be reached.
bool Do(const Deed& deed, const Caller& caller, Greeting& greeting) {
  if (const auto* drop = std::get_if<DropAction>(&deed)) {
    greeting.kind = drop->kind == DropKind::kReset ? Kind::kReset : Kind::kFin;
    return true;
  }
  if (const auto* abort = std::get_if<TlsAbortAction>(&deed)) {
    if (!caller.connection.tls) return false;
    greeting.kind = Kind::kRefuseTls;
    greeting.refusal = abort->kind;
    return true;
  }
  if (const auto* certificate = std::get_if<TlsCertificateAction>(&deed)) {
    using Flaw = TlsCertificateAction::Kind;
    const bool by_others = certificate->kind == Flaw::kSelfSigned || certificate->kind == Flaw::kUnknownAuthority;
    if (!caller.connection.tls || !(by_others || caller.certificate_may_sign) || greeting.certificate) return false;
    greeting.certificate = certificate->kind;
    return true;
  }
  if (const auto* goaway = std::get_if<GoAwayAction>(&deed)) {
    greeting.most_requests = goaway->requests;
    return true;
  }
  const auto* limit = std::get_if<ConnectionLimitAction>(&deed);
  if (limit == nullptr || caller.others < limit->most) return false;
  greeting.kind = Kind::kReset;
  return true;
}

}  // namespace

Greeting Greet(const FaultDesk& desk, Caller caller) {
  Greeting greeting;
  if (desk.idle()) return greeting;
  const auto found = desk.Find({});
  if (!found.ok() || !*found) return greeting;
  s3::RequestHead nothing;
  const s3::Exchange exchange{.request = nothing, .connection = caller.connection};
  for (const auto& ticket : (*found)->MeetConnection(FactsOf(exchange), desk.clock().Now())) {
    for (const Action& action : ticket->rule().deeds) {
      if (Do(action.deed, caller, greeting)) ticket->Done(action.deed);
    }
  }
  return greeting;
}

}  // namespace penstock::emulator::faults
