// Credentials of a role, by the token that `aws sso login` stored ("IAM Identity Center credential
// provider", AWS SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_

#include <string>

#include "client/auth/providers/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

struct SsoRole {
  std::string session;  // Name of the sso-session; empty: the older form with a start URL.
  std::string start_url;
  std::string region;
  std::string account_id;
  std::string role_name;
};

// The token is read from ~/.aws/sso/cache each time and not renewed. Returns kUnauthenticated if it
// is missing or expired, with the advice to log in, and if the portal returns an error.
ProviderPtr MakeSsoProvider(RemoteContext context, SsoRole role);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_SSO_PROVIDER_H_
