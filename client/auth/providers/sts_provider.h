// Credentials of a role from the AWS Security Token Service ("Assume role credential provider", AWS
// SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_

#include <optional>
#include <string>

#include "client/auth/providers/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

struct Role {
  std::string arn;
  std::string session_name;  // Empty: "penstock-" and the time.
  std::string external_id;   // Empty: none.
  std::optional<int> duration_seconds;
};

// Assumes the role with the credentials of `source` (AssumeRole, signed). An empty `endpoint_url`
// means the regional endpoint of STS, or the global one without a region. Errors are
// kUnauthenticated with STS's code and message.
ProviderPtr MakeAssumeRoleProvider(RemoteContext context, std::string endpoint_url, Role role,
                                   ProviderPtr source);

// Assumes the role with the token in a file (AssumeRoleWithWebIdentity), which is read each time.
ProviderPtr MakeWebIdentityProvider(RemoteContext context, std::string endpoint_url, Role role,
                                    std::string token_file);

// Uses AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME. Returns kNotFound if
// the first is not set, kUnauthenticated if only the second is missing.
ProviderPtr MakeWebIdentityEnvironmentProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_STS_PROVIDER_H_
