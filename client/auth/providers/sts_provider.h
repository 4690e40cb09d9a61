// Credentials of a role, from AWS's Security Token Service (spec/protocol.md §3.5).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_

#include <optional>
#include <string>

#include "client/auth/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

struct Role {
  std::string arn;
  std::string session_name;  // empty: "penstock-" and the time
  std::string external_id;   // empty: none
  std::optional<int> duration_seconds;
};

// The role, by the credentials of `source` (AssumeRole, signed). `endpoint_url` of STS: empty is
// the region's own, or the global one where there is no region. Errors are kUnauthenticated with
// STS's code and message.
ProviderPtr MakeAssumeRoleProvider(RemoteContext context, std::string endpoint_url, Role role,
                                   ProviderPtr source);

// The role, by the token in a file (AssumeRoleWithWebIdentity), which is read anew each time.
ProviderPtr MakeWebIdentityProvider(RemoteContext context, std::string endpoint_url, Role role,
                                    std::string token_file);

// As AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME say. kNotFound when the
// first is not set, kUnauthenticated when only the second is missing.
ProviderPtr MakeWebIdentityEnvironmentProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_
