// Authenticates a request: parses its claim, finds the user and recomputes the signature.
#ifndef PENSTOCK_EMULATOR_AUTH_VERIFIER_H_
#define PENSTOCK_EMULATOR_AUTH_VERIFIER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/auth/auth.h"
#include "emulator/auth/body/chunked_body.h"
#include "emulator/auth/body/payload.h"
#include "emulator/auth/signature/claim.h"
#include "emulator/auth/signature/form_claim.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {

// An admitted request: verified as far as the mode requires, or an allowed anonymous one.
struct Admission {
  Mechanism mechanism = Mechanism::kAnonymous;
  s3::Identity identity;
  // kHash only if the hash must be verified.
  PayloadKind payload_kind = PayloadKind::kUnsigned;
  std::string_view payload_claim;       // view into head or target
  std::optional<ChunkSigning> signing;  // set if chunk signatures must be verified
  // Owner of the credentials; null for an unknown key or an anonymous request.
  std::shared_ptr<const User> user = {};
};

// Returns the secret that signs sessions of the user. Empty if no secret is known (Mode::kParse).
std::string_view SecretOf(const User* user);

// For Mode::kVerify and Mode::kParse. Thread safety: methods may be called from any thread.
class Verifier {
 public:
  // Both arguments must outlive this object.
  Verifier(const AuthOptions& options, const Directory& directory);

  // Reads request and target. Sets exchange.space, signing_region and signature.version, and
  // re-reads the target's query if the signature requires another meaning of '+'; changes nothing
  // else. Checks in the order of Amazon S3: syntax, date, scope, skew, key, token, payload claim,
  // signed headers, signature. The last two only under kVerify.
  Result<Admission> Verify(s3::Exchange& exchange);

  // A form has its signature in its fields, which are read after Verify has admitted the request
  // with mechanism `admitted`. Sets exchange.space, signing_region and signature.version. Returns
  // the identity of the sender. Returns AccessDenied if the form is unsigned.
  Result<s3::Identity> VerifyForm(s3::Exchange& exchange, const s3::Form& form, Mechanism admitted);

 private:
  Result<Admission> AdmitAnonymous(const s3::Exchange& exchange) const;
  Result<Admission> AdmitUnsigned(const s3::Exchange& exchange) const;
  Result<void> ReadUnsignedPayload(const s3::Exchange& exchange, Admission& admission) const;
  Result<PayloadKind> Classify(std::string_view payload_claim) const;
  Result<s3::Identity> Identify(const s3::Exchange& exchange, std::string_view access_key_id,
                                const User* user, std::optional<std::string_view> token) const;
  Result<Admission> AdmitVersionFour(s3::Exchange& exchange, Mechanism mechanism);
  Result<Admission> AdmitVersionTwo(s3::Exchange& exchange, Mechanism mechanism) const;
  Result<void> CheckTime(const Claim& claim, WallTime now) const;
  Result<void> CheckSignature(s3::Exchange& exchange, const Claim& claim,
                              std::string_view payload_claim, const HmacSha256Key& key) const;

  const AuthOptions& options_;
  const Directory& directory_;
  SigningKeyCache keys_;
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_VERIFIER_H_
