// Certificates that clients must refuse, for faults on purpose (docs/faults.md).
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_FLAWED_CERTIFICATES_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_FLAWED_CERTIFICATES_H_

#include "emulator/http/accept_decision.h"
#include "penstock/base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace penstock::emulator::http {

// Whether the certificate of `own` may sign others, as a self-signed one of `openssl req -x509`
// may: who trusts it finds nothing else wrong with what it signed.
bool MaySign(const ssl_ctx_st& own);

// Gives `into` a new certificate with that flaw, and no other: names, where they are not the flaw,
// are those of `own`'s certificate; it is signed with `own`'s key, unless who signed it is the
// flaw. Not for kNone; needs MaySign but for kSelfSigned and kUnknownAuthority. By the machine's
// clock. kInternal: OpenSSL could not.
Result<void> UseFlawedCertificate(ssl_ctx_st& into, const ssl_ctx_st& own, CertificateFlaw flaw);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_FLAWED_CERTIFICATES_H_
