// The possible results of a provider: credentials, none configured, or unusable configuration.
#ifndef PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_RESPONSE_H_
#define PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_RESPONSE_H_

#include <memory>
#include <string>
#include <utility>

#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::auth {

inline Result<CredentialsPtr> Found(Credentials credentials) {
  return CredentialsPtr(std::make_shared<const Credentials>(std::move(credentials)));
}

// A chain continues with its next link.
inline Error NotConfigured(std::string message) {
  return Error::Make(ErrorKind::kNotFound, std::move(message));
}

// A chain ends its search.
inline Error Unusable(std::string message) {
  return Error::Make(ErrorKind::kUnauthenticated, std::move(message));
}

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROVIDERS_PROVIDER_RESPONSE_H_
