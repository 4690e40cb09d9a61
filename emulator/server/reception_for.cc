#include "emulator/server/reception_for.h"

namespace penstock::emulator::server {
namespace {

http::Reception::Kind KindOf(faults::Greeting::Kind kind) {
  switch (kind) {
    case faults::Greeting::Kind::kServe: return http::Reception::Kind::kServe;
    case faults::Greeting::Kind::kReset: return http::Reception::Kind::kReset;
    case faults::Greeting::Kind::kFin: return http::Reception::Kind::kFin;
    case faults::Greeting::Kind::kRefuseTls: return http::Reception::Kind::kRefuseTls;
  }
  return http::Reception::Kind::kServe;
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

http::Reception ReceptionFor(const faults::Greeting& greeting) {
  return {.kind = KindOf(greeting.kind),
          .refusal = RefusalOf(greeting.refusal),
          .flaw = greeting.certificate ? FlawOf(*greeting.certificate) : http::CertificateFlaw::kNone,
          .most_requests = greeting.most_requests};
}

}  // namespace penstock::emulator::server
