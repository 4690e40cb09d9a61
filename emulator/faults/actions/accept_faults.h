// What a connection meets as it is accepted.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulator/faults/action.h"
#include "emulator/faults/fault_registry.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

struct AcceptFault {
  enum class Kind : std::uint8_t { kServe, kReset, kFin, kRefuseTls } kind = Kind::kServe;
  TlsAbortAction::Kind refusal = TlsAbortAction::Kind::kHandshakeFailure;  // of kRefuseTls
  std::optional<TlsCertificateAction::Kind> certificate;  // in place of the server's own
  std::uint64_t most_requests = 0;                        // 0: as many as come
};

struct Caller {
  s3::Connection connection;
  std::size_t others = 0;  // connections open beside this one
  // the server's: who trusts it trusts what it signs (http/flawed_certificates.h)
  bool certificate_may_sign = false;
};

// By the scenario that runs at the registry; its rules at `accept` alone. Waits for nothing.
AcceptFault FaultOfAccept(const FaultRegistry& registry, Caller caller);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_ACCEPT_FAULTS_H_
