// Credentials of the EC2 instance's role from the instance metadata service ("IMDS credential
// provider", AWS SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_

#include "client/auth/providers/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// Uses version 2 with a session token, or version 1 if the service has no tokens, unless
// AWS_EC2_METADATA_V1_DISABLED is true.
//
// Settings: AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE (IPv4, IPv6),
// AWS_METADATA_SERVICE_TIMEOUT (default 1 s) and AWS_METADATA_SERVICE_NUM_ATTEMPTS (default 1).
//
// Credentials near their expiry that the service still returns are used for 10 to 20 minutes more,
// as in botocore.
//
// Returns kNotFound if AWS_EC2_METADATA_DISABLED is true, the service is unreachable or the
// instance has no role. Returns kUnauthenticated if the response is unusable or a setting is
// invalid.
ProviderPtr MakeInstanceMetadataProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_
