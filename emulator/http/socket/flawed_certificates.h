// Certificates that clients must refuse, for injected faults (docs/reference/faults.md).
#ifndef PENSTOCK_EMULATOR_HTTP_SOCKET_FLAWED_CERTIFICATES_H_
#define PENSTOCK_EMULATOR_HTTP_SOCKET_FLAWED_CERTIFICATES_H_

#include "emulator/http/socket/accept_decision.h"
#include "penstock/base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace penstock::emulator::http {

// Whether the certificate of `own` may sign others, like a self-signed one of `openssl req -x509`.
// A client that trusts it accepts what it signs, apart from the intended flaw.
bool MaySign(const ssl_ctx_st& own);

// Gives `into` a new certificate with exactly this flaw, valid by the machine's clock. It has the
// names of `own`'s certificate unless the name is the flaw, and is signed with `own`'s key unless
// the issuer is the flaw. `flaw` must not be kNone. Requires MaySign, except for kSelfSigned and
// kUnknownAuthority. Returns kInternal when OpenSSL fails.
Result<void> UseFlawedCertificate(ssl_ctx_st& into, const ssl_ctx_st& own, CertificateFlaw flaw);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SOCKET_FLAWED_CERTIFICATES_H_
