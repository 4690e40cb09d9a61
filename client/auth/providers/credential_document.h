// The JSON format in which processes and metadata services return credentials.
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_

#include <map>
#include <string>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::auth {

// Returns the string and number members of a JSON object, numbers as written. Other members are
// left out; members of nested objects are named "outer.inner". Returns kUnauthenticated, without
// the text, if it is not an object.
Result<std::map<std::string, std::string>> ReadFlatObject(std::string_view json);

// Reads {"AccessKeyId", "SecretAccessKey", token_name, "Expiration"}. The last two may be missing,
// and empty counts as missing. Returns kUnauthenticated with `source` and the member that is
// missing or not an ISO 8601 time. Messages contain no secrets.
Result<Credentials> ReadCredentialDocument(std::string_view json, std::string_view token_name,
                                           const std::string& source);
// Same for the members that ReadFlatObject returned.
Result<Credentials> CredentialsOf(std::map<std::string, std::string> members,
                                  std::string_view token_name, const std::string& source);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_
