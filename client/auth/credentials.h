// Where credentials come from: given, the environment, and a chain of providers behind a cache
// (spec/protocol.md §3.1, §3.8). Each of the other places has a header of its own.
#ifndef PENSTOCK_CLIENT_AUTH_CREDENTIALS_H_
#define PENSTOCK_CLIENT_AUTH_CREDENTIALS_H_

#include <memory>
#include <string>
#include <vector>

#include "client/auth/profile.h"
#include "client/auth/remote_context.h"
#include "penstock/base/clock.h"
#include "penstock/credentials.h"

namespace penstock::auth {

// shared: one provider serves many clients
using ProviderPtr = std::shared_ptr<CredentialsProvider>;

// Always `credentials`. kUnauthenticated from Start when key id or secret is empty.
ProviderPtr MakeStaticProvider(Credentials credentials);

// Always null: requests go unsigned.
ProviderPtr MakeAnonymousProvider();

// A place of the chain. kNotFound from its provider means "nothing configured here, ask the next";
// any other error ends the search.
struct ChainLink {
  std::string place;  // for the final message: "environment (AWS_ACCESS_KEY_ID)"
  ProviderPtr provider;
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (AWS_SECURITY_TOKEN),
// AWS_CREDENTIAL_EXPIRATION. kNotFound when neither key is set, kUnauthenticated when only one is.
ProviderPtr MakeEnvironmentProvider(Environment environment);

// Asks each in order. kUnauthenticated listing all places when none has credentials.
ProviderPtr MakeChainProvider(std::vector<ChainLink> links);

class CachedProvider : public CredentialsProvider {
 public:
  // The service refused `refused` as expired: while these are the credentials that are remembered,
  // the next Start has the provider asked again. Thread safety: any thread.
  virtual void Forget(const CredentialsPtr& refused) = 0;
};

// Remembers what `inner` gave. Concurrent callers share one refresh. Credentials that expire are
// refreshed 5 minutes early (§3.8); while they are still valid a failed refresh keeps the old ones.
// Credentials without expiry are kept until they are refused. An error is not remembered; an
// exception of `inner` is one. `clock` outlives the provider.
std::shared_ptr<CachedProvider> MakeCachedProvider(ProviderPtr inner, const Clock& clock);

// The default: environment (left out when `explicit_profile` is given, as botocore does), profile
// files, web identity of the environment, container, EC2 instance; cached. A place that is
// configured and fails ends the search.
ProviderPtr MakeDefaultProvider(const RemoteContext& context, std::string explicit_profile);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_CREDENTIALS_H_
