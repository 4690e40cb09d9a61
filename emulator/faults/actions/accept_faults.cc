#include "emulator/faults/actions/accept_faults.h"

#include <memory>
#include <utility>

namespace penstock::emulator::faults {
namespace {

using Kind = AcceptFault::Kind;

// Applies an action. Returns false if it does not take effect: TLS actions need TLS, a limit must
// be reached.
bool ApplyAction(const Action& action, const Caller& caller, AcceptFault& fault) {
  if (const auto* drop = std::get_if<DropAction>(&action)) {
    fault.kind = drop->kind == DropKind::kReset ? Kind::kReset : Kind::kFin;
    return true;
  }
  if (const auto* abort = std::get_if<TlsAbortAction>(&action)) {
    if (!caller.connection.tls) return false;
    fault.kind = Kind::kRefuseTls;
    fault.refusal = abort->kind;
    return true;
  }
  if (const auto* certificate = std::get_if<TlsCertificateAction>(&action)) {
    using Flaw = TlsCertificateAction::Kind;
    const bool by_others =
        certificate->kind == Flaw::kSelfSigned || certificate->kind == Flaw::kUnknownAuthority;
    if (!caller.connection.tls || !(by_others || caller.certificate_may_sign) || fault.certificate)
      return false;
    fault.certificate = certificate->kind;
    return true;
  }
  if (const auto* goaway = std::get_if<GoAwayAction>(&action)) {
    fault.max_requests = goaway->requests;
    return true;
  }
  const auto* limit = std::get_if<ConnectionLimitAction>(&action);
  if (limit == nullptr || caller.others < limit->most) return false;
  fault.kind = Kind::kReset;
  return true;
}

}  // namespace

AcceptFault FaultOfAccept(const FaultRegistry& registry, Caller caller) {
  AcceptFault fault;
  if (registry.idle()) return fault;
  const auto found = registry.Find({});
  if (!found.ok() || !*found) return fault;
  s3::RequestHead nothing;
  const s3::Exchange exchange{nothing, caller.connection};
  for (const auto& ticket :
       (*found)->OnConnection(PropertiesOf(exchange), registry.clock().Now())) {
    for (const TimedAction& timed : ticket->rule().actions) {
      if (ApplyAction(timed.action, caller, fault)) ticket->Done(timed.action);
    }
  }
  return fault;
}

}  // namespace penstock::emulator::faults
