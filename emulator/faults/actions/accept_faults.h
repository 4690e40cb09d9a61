// The faults that apply to a connection when it is accepted.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulator/faults/registry/fault_registry.h"
#include "emulator/faults/rules/action.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

struct AcceptFault {
  enum class Kind : std::uint8_t { kServe, kReset, kFin, kRefuseTls } kind = Kind::kServe;
  TlsAbortAction::Kind refusal = TlsAbortAction::Kind::kHandshakeFailure;  // For kRefuseTls.
  std::optional<TlsCertificateAction::Kind> certificate;  // Replaces the server's certificate.
  std::uint64_t max_requests = 0;                         // 0: no limit.
};

struct Caller {
  s3::Connection connection;
  std::size_t others = 0;  // Other open connections.
  // Whether the server's certificate may sign others: a client that trusts it then trusts the
  // flawed certificates that it signs (emulator/http/socket/flawed_certificates.h).
  bool certificate_may_sign = false;
};

// Evaluates the rules at Stage::kAccept of the running scenario. Does not block.
AcceptFault FaultOfAccept(const FaultRegistry& registry, Caller caller);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_
