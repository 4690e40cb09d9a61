// Credentials as a profile of the AWS configuration files says (spec/protocol.md §3.4).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_

#include <string>

#include "client/auth/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// The profile of that name (SelectProfileName), in botocore's order where one has several settings:
// a role by source_profile (which may have a role itself), credential_source or a web identity,
// SSO, keys of the credentials file, credential_process, keys of the config file. The files are
// read anew at each Start.
//
// kNotFound when there is no such profile and none was asked for by name, or it has no credential
// settings; kUnauthenticated when a named profile is missing, has only half of what it needs, or
// roles in a circle; kUnsupported for a role with mfa_serial, as nobody can be asked for a code.
ProviderPtr MakeProfileProvider(RemoteContext context, std::string profile_name);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_
