// Web identity tokens: JSON Web Tokens (RFC 7519) of an OpenID Connect provider, signed with RSA
// or ECDSA (RFC 7518), and the key sets that verify them (RFC 7517).
//
// Pure: the caller gives the keys and the time.
#ifndef PENSTOCK_EMULATOR_IDENTITY_TOKENS_WEB_TOKEN_H_
#define PENSTOCK_EMULATOR_IDENTITY_TOKENS_WEB_TOKEN_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

// An OpenID Connect provider (IAM).
struct TokenProvider {
  std::string json;    // its object of the users document
  std::string issuer;  // with "https://", as in the claim "iss"
  std::vector<std::string> audiences;
  std::string keys;  // a JSON Web Key Set; empty: none
  bool accepts_any_token = false;
};

struct WebToken {
  std::string issuer;
  std::string subject;
  std::vector<std::string> audiences;
  // Claims with one or several strings, for conditions of the trust policy. Includes "sub".
  std::map<std::string, std::vector<std::string>> claims;
};

// Returns kInvalidArgument unless `json` is a key set with at least one key of RSA or of an
// elliptic curve (P-256, P-384, P-521).
Result<void> CheckKeySet(std::string_view json);

// Returns the claim "iss" without verification; nullopt if the text is not a JSON Web Token.
std::optional<std::string> IssuerOf(std::string_view token);

// Checks the signature (RS256, RS384, RS512, ES256, ES384, ES512), the issuer, the audience, and
// that `now` is between "nbf" and "exp". Returns InvalidIdentityToken or ExpiredTokenException.
//
// With accepts_any_token, neither signature nor audience are checked, and a text that is not a JSON
// Web Token has the provider's first audience and the subject "any".
Result<WebToken> VerifyToken(const TokenProvider& provider, std::string_view token, WallTime now);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_TOKENS_WEB_TOKEN_H_
