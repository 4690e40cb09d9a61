// Credentials of a role, by the token that `aws sso login` left (spec/protocol.md §3.4).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_

#include <string>

#include "client/auth/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

struct SsoRole {
  std::string session;  // name of the sso-session; empty: the older form, by the start URL
  std::string start_url;
  std::string region;
  std::string account_id;
  std::string role_name;
};

// The token is read from ~/.aws/sso/cache each time, and not renewed: once it has expired the error
// says to log in. kUnauthenticated for that, for a missing token, and when the portal refuses.
ProviderPtr MakeSsoProvider(RemoteContext context, SsoRole role);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_
