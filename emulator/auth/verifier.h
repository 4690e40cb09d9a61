// Decides who a request is from: parses its claim, finds the user and recomputes the signature.
#ifndef PENSTOCK_EMULATOR_AUTH_VERIFIER_H_
#define PENSTOCK_EMULATOR_AUTH_VERIFIER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/auth/auth.h"
#include "emulator/auth/body/chunked_body.h"
#include "emulator/auth/body/payload.h"
#include "emulator/auth/claim.h"
#include "emulator/auth/form_claim.h"
#include "emulator/auth/signing_key.h"

namespace penstock::emulator::auth {

// A request that may go on: verified as far as the mode asks for it, or an allowed anonymous one.
struct Admission {
  Mechanism mechanism = Mechanism::kAnonymous;
  s3::Identity identity;
  // kHash only where that hash is to be verified
  PayloadKind payload_kind = PayloadKind::kUnsigned;
  std::string_view payload_claim;       // view into head or target
  std::optional<ChunkSigning> signing;  // set for signed chunks that are to be verified
  // whose credentials they are; null: of one whom nobody knows, or anonymous
  std::shared_ptr<const User> user = {};
};

// What sessions in the user's name are signed with; nothing where nobody knows a secret of his
// (Mode::kParse).
std::string_view SecretOf(const User* user);

// For Mode::kVerify and Mode::kParse. Thread safety: safe from any thread.
class Verifier {
 public:
  // `options` and `directory` outlive this.
  Verifier(const AuthOptions& options, const Directory& directory);

  // Reads request and target, sets exchange.space and signing_region, and reads the target's query
  // anew where the signature says what its '+' mean; nothing else. In the order of §2.14: parse,
  // date, scope, skew, key, token, payload claim, signed-headers coverage, signature; the last two
  // only under kVerify.
  Result<Admission> Verify(s3::Exchange& exchange);

  // A form brings its signature in its fields, which are read after Verify let its request through
  // as `admitted`. Sets exchange.space and signing_region; gives whose post it is. AccessDenied
  // when nobody signed it.
  Result<s3::Identity> VerifyForm(s3::Exchange& exchange, const s3::Form& form, Mechanism admitted);

 private:
  Result<Admission> AdmitAnonymous(const s3::Exchange& exchange) const;
  Result<Admission> AdmitUnsigned(const s3::Exchange& exchange) const;
  Result<void> TakeUnsignablePayload(const s3::Exchange& exchange, Admission& admission) const;
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
