// The Handler that lets only verified requests through: SigV4 header and presigned, body claims
// checked.
//
// Written from spec/protocol.md §2.13, §2.14 alone and never from the client's signer: their
// agreement is evidence.
#ifndef PENSTOCK_EMULATOR_AUTH_AUTH_H_
#define PENSTOCK_EMULATOR_AUTH_AUTH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// One access key. `secret_access_key` never leaves this module.
struct User {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;        // required on requests when set: a temporary key
  std::optional<WallTime> expires;  // of the token
  bool active = true;               // an inactive key is refused as if it did not exist
  s3::Identity identity;
};

// Finds users and universes. Thread safety: safe from any thread.
class Directory {
 public:
  virtual ~Directory() = default;
  // Null when nobody has that key. What is returned does not change; a changed user is another
  // object.
  virtual std::shared_ptr<const User> FindUser(std::string_view access_key_id) const = 0;
  // The universe of a user that FindUser returned; of the default one for null. Null only for a
  // user whose universe cannot be opened now.
  virtual std::shared_ptr<s3::Namespace> NamespaceOf(const User* user) const = 0;
  // Whom a key that FindUser does not know stands for where no secret is asked for (Mode::kParse).
  virtual s3::Identity IdentityOf(std::string_view access_key_id) const = 0;
  // Whose requests all are under Mode::kOff. Fixed.
  virtual const s3::Identity& DefaultIdentity() const = 0;
};

// How much of a claim is checked. Below kVerify, aws-chunked bodies are still decoded and their
// framing and lengths checked, but neither chunk signatures nor payload hashes; checksums, also in
// trailers, are the router's in every mode. Under kParse a key that the directory knows must be
// active and its token not expired; nobody compares the token.
enum class Mode {
  kVerify,  // every claim is checked
  // form, scope and dates of claims are checked, the identity is taken as claimed: no secret is
  // needed
  kParse,
  kOff,  // claims are not looked at; everybody is the default identity
};

struct AuthOptions {
  Mode mode = Mode::kVerify;
  std::string region = "us-east-1";
  s3::HostRules hosts;
  // unsigned requests go on without an identity: what that may do, api/access.h decides
  bool allow_anonymous = false;
};

// Parses the target, verifies, fills identity, space and operation, wraps the body, then calls
// `next`. `directory` and `next` outlive the handler.
std::unique_ptr<s3::Handler> MakeAuth(AuthOptions options, const Directory& directory,
                                      s3::Handler& next);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_AUTH_H_
