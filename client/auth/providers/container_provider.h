// Credentials from the container that the process runs in: ECS tasks, EKS Pod Identity ("Container
// credential provider", AWS SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_

#include "client/auth/providers/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// Uses AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI, with the token
// of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE (read each time) or AWS_CONTAINER_AUTHORIZATION_TOKEN.
// Returns kNotFound if neither URI is set. Returns kUnauthenticated if the URI would send the token
// unencrypted to an untrusted host, or if the token has a line break. The same applies if the
// service returns an error or is unreachable.
ProviderPtr MakeContainerProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_
