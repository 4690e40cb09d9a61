#include "emulator/server/accept_decision_for.h"

namespace penstock::emulator::server {
namespace {

http::AcceptDecision::Kind KindOf(faults::AcceptFault::Kind kind) {
  switch (kind) {
    case faults::AcceptFault::Kind::kServe: return http::AcceptDecision::Kind::kServe;
    case faults::AcceptFault::Kind::kReset: return http::AcceptDecision::Kind::kReset;
    case faults::AcceptFault::Kind::kFin: return http::AcceptDecision::Kind::kFin;
    case faults::AcceptFault::Kind::kRefuseTls: return http::AcceptDecision::Kind::kRefuseTls;
  }
  return http::AcceptDecision::Kind::kServe;
}

http::TlsRefusal RefusalOf(faults::TlsAbortAction::Kind kind) {
  using Kind = faults::TlsAbortAction::Kind;
  switch (kind) {
    case Kind::kHandshakeFailure: return http::TlsRefusal::kHandshakeFailure;
    case Kind::kProtocolVersion: return http::TlsRefusal::kProtocolVersion;
    case Kind::kNoApplicationProtocol: return http::TlsRefusal::kNoApplicationProtocol;
    case Kind::kTruncated: return http::TlsRefusal::kTruncated;
  }
  return http::TlsRefusal::kHandshakeFailure;
}

http::CertificateFlaw FlawOf(faults::TlsCertificateAction::Kind kind) {
  using Kind = faults::TlsCertificateAction::Kind;
  switch (kind) {
    case Kind::kExpired: return http::CertificateFlaw::kExpired;
    case Kind::kNotYetValid: return http::CertificateFlaw::kNotYetValid;
    case Kind::kWrongHost: return http::CertificateFlaw::kWrongHost;
    case Kind::kSelfSigned: return http::CertificateFlaw::kSelfSigned;
    case Kind::kUnknownAuthority: return http::CertificateFlaw::kUnknownAuthority;
  }
  return http::CertificateFlaw::kNone;
}

}  // namespace

http::AcceptDecision ToAcceptDecision(const faults::AcceptFault& fault) {
  return {.kind = KindOf(fault.kind),
          .refusal = RefusalOf(fault.refusal),
          .flaw = fault.certificate ? FlawOf(*fault.certificate) : http::CertificateFlaw::kNone,
          .max_requests = fault.max_requests};
}

}  // namespace penstock::emulator::server
