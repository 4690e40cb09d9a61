// Who signs. Credentials are values; a provider finds and refreshes them.
#ifndef PENSTOCK_CREDENTIALS_H_
#define PENSTOCK_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock {

// One identity. `secret_access_key` and `session_token` are secrets: never print or log them.
struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;           // empty for long-lived keys
  std::optional<WallTime> expires_at;  // unset: never
};

using CredentialsPtr = std::shared_ptr<const Credentials>;

// A Client remembers what its provider delivers and shares one Start among all calls that wait: it
// asks again 5 minutes before the credentials expire, and after S3 refused them as expired
// (ExpiredToken). An exception of Start is an error of the calls that wait.
//
// Thread safety: safe from any thread. `Start` never blocks; `done` runs exactly once, possibly
// before Start returns.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;

  // Delivers valid credentials, or kUnauthenticated with a message that lists the places looked at.
  // A null pointer means: do not sign (anonymous).
  virtual void Start(std::function<void(Result<CredentialsPtr>)> done) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_CREDENTIALS_H_
