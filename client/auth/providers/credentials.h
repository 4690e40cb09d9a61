// Credentials providers: static, environment, chain and cache ("Standardized credential providers",
// AWS SDKs and Tools Reference Guide). Other providers have their own headers.
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIALS_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIALS_H_

#include <memory>
#include <string>
#include <vector>

#include "client/auth/profile.h"
#include "client/auth/remote_context.h"
#include "penstock/base/clock.h"
#include "penstock/credentials.h"

namespace penstock::auth {

using ProviderPtr = CredentialsProviderPtr;

// Always returns `credentials`, or kUnauthenticated if the access key id or the secret is empty.
ProviderPtr MakeStaticProvider(Credentials credentials);

// Always returns null: requests are not signed.
ProviderPtr MakeAnonymousProvider();

// A link of the chain. kNotFound from its provider means that nothing is configured here, so the
// chain tries the next link. Any other error ends the search.
struct ChainLink {
  std::string place;  // For the final message: "environment (AWS_ACCESS_KEY_ID)".
  ProviderPtr provider;
};

// Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (or AWS_SECURITY_TOKEN) and
// AWS_CREDENTIAL_EXPIRATION. Returns kNotFound if neither key is set, kUnauthenticated if only one
// is.
ProviderPtr MakeEnvironmentProvider(Environment environment);

// Tries each link in order. Returns kUnauthenticated with a list of all places if none has
// credentials.
ProviderPtr MakeChainProvider(std::vector<ChainLink> links);

class CachedProvider : public CredentialsProvider {
 public:
  // Called after the service rejected `refused` as expired. If these are the cached credentials,
  // the next Start calls the inner provider again. Thread safety: may be called from any thread.
  void Forget(const CredentialsPtr& refused) override = 0;
};

// Caches the credentials of `inner`. Concurrent callers share one refresh. Credentials with an
// expiry are refreshed 5 minutes early; if that fails while they are valid, they stay in use.
// Credentials without an expiry are kept until they are rejected. Errors and exceptions of `inner`
// are not cached. `clock` must outlive the provider.
std::shared_ptr<CachedProvider> MakeCachedProvider(ProviderPtr inner, const Clock& clock);

// The default chain, cached: environment (skipped if `explicit_profile` is given, as in botocore),
// profile files, web identity from the environment, container, EC2 instance. A configured place
// that fails ends the search.
ProviderPtr MakeDefaultProvider(const RemoteContext& context, std::string explicit_profile);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIALS_H_
