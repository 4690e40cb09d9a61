// How the server treats an accepted connection. The default is to serve it; faults may choose
// another action.
#ifndef PENSTOCK_EMULATOR_HTTP_SOCKET_ACCEPT_DECISION_H_
#define PENSTOCK_EMULATOR_HTTP_SOCKET_ACCEPT_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::emulator::http {

// A connection that was just accepted.
struct Arrival {
  std::uint64_t id = 0;
  std::string peer;  // "127.0.0.1:54321"
  bool tls = false;
  std::size_t others = 0;             // number of other open connections
  bool certificate_may_sign = false;  // the server's certificate is a CA that clients may trust
};

// The only flaw of the certificate that is presented (flawed_certificates.h).
enum class CertificateFlaw : std::uint8_t {
  kNone,
  kExpired,
  kNotYetValid,
  kWrongHost,
  kSelfSigned,
  kUnknownAuthority
};

// Sent instead of a handshake: an alert of RFC 8446 section 6.2, or the first bytes of a
// ServerHello. FIN follows.
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
    kFin,        // FIN; received bytes are discarded for a while
    kRefuseTls,  // see `refusal`
  };
  Kind kind = Kind::kServe;
  TlsRefusal refusal = TlsRefusal::kHandshakeFailure;
  // All but the last two need Arrival::certificate_may_sign.
  CertificateFlaw flaw = CertificateFlaw::kNone;
  std::uint64_t max_requests = 0;  // closed after this many requests; 0: no limit
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SOCKET_ACCEPT_DECISION_H_
