// The JSON in which processes and metadata services hand credentials over.
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_

#include <map>
#include <string>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::auth {

// The top-level members of a JSON object that are strings or numbers, numbers as written.
// kUnauthenticated, without a word of the text, when it is no object. Other members are left out;
// nested objects' members come as "outer.inner".
Result<std::map<std::string, std::string>> ReadFlatObject(std::string_view json);

// {"AccessKeyId", "SecretAccessKey", token_name, "Expiration"}: the last two may be missing, and
// empty counts as missing. kUnauthenticated naming `source` and the member that is missing or no
// ISO 8601 time; never a value of the key's.
Result<Credentials> ReadCredentialDocument(std::string_view json, std::string_view token_name,
                                           const std::string& source);
// The same of a document that ReadFlatObject has read.
Result<Credentials> CredentialsOf(std::map<std::string, std::string> members,
                                  std::string_view token_name, const std::string& source);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_CREDENTIAL_DOCUMENT_H_
