// Decides who a request is from: parses its claim, finds the user and recomputes the signature.
#ifndef PENSTOCK_EMULATOR_AUTH_VERIFIER_H_
#define PENSTOCK_EMULATOR_AUTH_VERIFIER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/auth/auth.h"
#include "emulator/auth/chunked_body.h"
#include "emulator/auth/claim.h"
#include "emulator/auth/payload.h"
#include "emulator/auth/signing_key.h"

namespace penstock::emulator::auth {

// A verified request, or an allowed anonymous one.
struct Admission {
  Mechanism mechanism = Mechanism::kAnonymous;
  api::Identity identity;
  PayloadKind payload_kind = PayloadKind::kUnsigned;
  std::string_view payload_claim;       // view into head or target
  std::optional<ChunkSigning> signing;  // set for signed chunks
};

// Thread safety: safe from any thread.
class Verifier {
 public:
  // `options` and `directory` outlive this.
  Verifier(const AuthOptions& options, const Directory& directory);

  // Reads request and target, sets exchange.space and signing_region and nothing else. In the order of §2.14: parse, date, scope, skew, key,
  // payload claim, signed-headers coverage, signature.
  Result<Admission> Verify(api::Exchange& exchange);

 private:
  Result<Admission> AdmitAnonymous(const api::Exchange& exchange) const;
  static Result<Admission> AdmitUnsigned(const api::Exchange& exchange);
  Result<Admission> AdmitVersionTwo(api::Exchange& exchange) const;
  Result<void> CheckTime(const Claim& claim, WallTime now) const;
  Result<void> CheckSignature(const api::Exchange& exchange, const Claim& claim, std::string_view payload_claim,
                              const HmacSha256Key& key) const;

  const AuthOptions& options_;
  const Directory& directory_;
  SigningKeyCache keys_;
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_VERIFIER_H_
