// Credentials of the EC2 instance's role, from its metadata service (spec/protocol.md §3.7).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_

#include "client/auth/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// Version 2 with a session token; version 1 where the service knows no tokens, unless
// AWS_EC2_METADATA_V1_DISABLED. The address and patience by AWS_EC2_METADATA_SERVICE_ENDPOINT,
// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE (IPv4, IPv6), AWS_METADATA_SERVICE_TIMEOUT (seconds, 1)
// and AWS_METADATA_SERVICE_NUM_ATTEMPTS (1). Credentials about to expire that the service still
// hands out count for 10 to 20 minutes more, as in botocore. kNotFound when
// AWS_EC2_METADATA_DISABLED is true, nobody answers or the instance has no role; kUnauthenticated
// when what comes is unusable or a setting is no number.
ProviderPtr MakeInstanceMetadataProvider(RemoteContext context);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_INSTANCE_METADATA_PROVIDER_H_
