// Credentials of the container that a process runs in: ECS tasks, EKS Pod Identity
// (spec/protocol.md §3.6).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_

#include "client/auth/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI, with the token of
// AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE (read anew each time) or
// AWS_CONTAINER_AUTHORIZATION_TOKEN. kNotFound when neither URI is set; kUnauthenticated for a URI
// that would carry the token to a strange host in the clear, for a token with a line break, and
// when the service refuses or cannot be reached.
ProviderPtr MakeContainerProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_CONTAINER_PROVIDER_H_
