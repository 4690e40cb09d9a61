// The filter that admits only verified requests: SigV4 in the Authorization header or in a
// presigned URL, Signature Version 2, and claims about the body.
//
// It follows AWS's documentation ("Authenticating Requests (AWS Signature Version 4)") and shares
// no code with the client's signer, so that each tests the other.
#ifndef PENSTOCK_EMULATOR_AUTH_AUTH_H_
#define PENSTOCK_EMULATOR_AUTH_AUTH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/filter_chain.h"

namespace penstock::emulator::auth {

// One access key. `secret_access_key` must not leave this module.
struct User {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;        // required on requests if set: a temporary key
  std::optional<WallTime> expires;  // expiry of the token
  bool active = true;               // an inactive key is treated as unknown
  s3::Identity identity;
};

// Finds users and namespaces. Thread safety: all methods may be called from any thread.
class Directory {
 public:
  virtual ~Directory() = default;
  // Returns null for an unknown key. The returned user never changes; a changed user is another
  // object.
  virtual std::shared_ptr<const User> FindUser(std::string_view access_key_id) const = 0;
  // Returns the namespace of a user that FindUser returned, or the default namespace for null.
  // Returns null only if the user's namespace cannot be opened now.
  virtual std::shared_ptr<s3::Namespace> NamespaceOf(const User* user) const = 0;
  // Returns the identity for an unknown key when no secret is checked (Mode::kParse).
  virtual s3::Identity IdentityOf(std::string_view access_key_id) const = 0;
  // Returns the identity of all requests under Mode::kOff. It never changes.
  virtual const s3::Identity& DefaultIdentity() const = 0;
};

// Directory::FindUser, once per request and key: the front and authentication use the same user
// even if it changes in between.
std::shared_ptr<const User> FindUserOnce(const Directory& directory, s3::Exchange& exchange,
                                         std::string_view access_key_id);

// How much of a claim is checked. Below kVerify, aws-chunked bodies are still decoded, and their
// framing and lengths are checked, but not chunk signatures and payload hashes. The router checks
// checksums in every mode. Under kParse a known key must be active and its token not expired; the
// token itself is not compared.
enum class Mode {
  kVerify,  // every claim is checked
  // The form, scope and dates of claims are checked; the claimed identity is trusted. No secret is
  // needed.
  kParse,
  kOff,  // claims are ignored; every request has the default identity
};

struct AuthOptions {
  Mode mode = Mode::kVerify;
  std::string region = "us-east-1";
  // Admits unsigned requests without an identity; emulator/s3 decides what they may do.
  bool allow_anonymous = false;
};

// Verifies a request whose target and operation are known (server/front.h), sets identity and
// space, and wraps the body. `directory` must outlive the filter.
std::unique_ptr<s3::Filter> MakeAuth(AuthOptions options, const Directory& directory);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_AUTH_H_
