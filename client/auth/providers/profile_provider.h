// Credentials from a profile of the AWS configuration files ("Shared config and credentials files",
// AWS SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_

#include <string>

#include "client/auth/providers/credentials.h"
#include "client/auth/remote_context.h"

namespace penstock::auth {

// Uses the profile of that name (SelectProfileName). With several settings, the precedence is
// botocore's: a role by source_profile (which may itself assume a role), credential_source or web
// identity; SSO; keys of the credentials file; credential_process; keys of the config file. The
// files are read at each Start.
//
// Returns kNotFound if the profile does not exist and was not requested by name, or has no
// credential settings. Returns kUnauthenticated if a requested profile is missing, incomplete or
// has a cycle of roles. Returns kUnsupported for a role with mfa_serial.
ProviderPtr MakeProfileProvider(RemoteContext context, std::string profile_name);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROFILE_PROVIDER_H_
