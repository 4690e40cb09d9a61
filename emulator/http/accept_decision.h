// How connections are received: as a rule served; faults may ask for something else.
#ifndef PENSTOCK_EMULATOR_HTTP_ACCEPT_DECISION_H_
#define PENSTOCK_EMULATOR_HTTP_ACCEPT_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::emulator::http {

// A connection that was just accepted, and how it is received.
struct Arrival {
  std::uint64_t id = 0;
  std::string peer;  // "127.0.0.1:54321"
  bool tls = false;
  std::size_t others = 0;             // open connections beside it
  bool certificate_may_sign = false;  // the server's: who trusts it trusts what it signs
};

// What is wrong with a certificate; nothing else is (flawed_certificates.h).
enum class CertificateFlaw : std::uint8_t {
  kNone,
  kExpired,
  kNotYetValid,
  kWrongHost,
  kSelfSigned,
  kUnknownAuthority
};

// In place of a handshake: an alert of RFC 8446 §6.2, or the first bytes of a ServerHello; then
// FIN.
enum class TlsRefusal : std::uint8_t {
  kHandshakeFailure,
  kProtocolVersion,
  kNoApplicationProtocol,
  kTruncated
};

struct AcceptDecision {
  enum class Kind : std::uint8_t {
    kServe,
    kReset,      // RST
    kFin,        // FIN; what it sends is thrown away for a while
    kRefuseTls,  // as `refusal` says
  };
  Kind kind = Kind::kServe;
  TlsRefusal refusal = TlsRefusal::kHandshakeFailure;
  // all but the last two need Arrival::certificate_may_sign
  CertificateFlaw flaw = CertificateFlaw::kNone;
  std::uint64_t most_requests = 0;  // it is closed behind so many; 0: as many as come
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_ACCEPT_DECISION_H_
