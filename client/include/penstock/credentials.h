// Credentials and credentials providers. Credentials are values; a provider finds and refreshes
// them.
#ifndef PENSTOCK_CREDENTIALS_H_
#define PENSTOCK_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock {

// One identity. Never print or log `secret_access_key` and `session_token`.
struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;           // Empty for long-term access keys.
  std::optional<WallTime> expires_at;  // Unset: never.
};

using CredentialsPtr = std::shared_ptr<const Credentials>;

// A source of credentials. A Client caches the result of its provider, and all waiting calls share
// one Start. The Client calls Start again 5 minutes before the credentials expire, and after S3
// rejected them as expired (ExpiredToken). An exception of Start fails the waiting calls.
//
// Thread safety: may be called from any thread. `Start` never blocks. `done` runs exactly once,
// possibly before Start returns.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;

  // Passes valid credentials to `done`, or kUnauthenticated with a message that lists the sources
  // tried. A null pointer means: do not sign (anonymous).
  virtual void Start(std::function<void(Result<CredentialsPtr>)> done) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_CREDENTIALS_H_
