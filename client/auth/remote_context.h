// Dependencies of providers that send requests.
#ifndef PENSTOCK_CLIENT_AUTH_REMOTE_CONTEXT_H_
#define PENSTOCK_CLIENT_AUTH_REMOTE_CONTEXT_H_

#include <functional>
#include <string>

#include "client/auth/profile.h"
#include "client/auth/small_request.h"
#include "penstock/base/clock.h"

namespace penstock::auth {

struct RemoteContext {
  Environment environment;
  const Clock* clock = nullptr;  // Lives forever.
  std::function<TransportPtr()>
      transport;       // Called for each call, because the result changes after a fork.
  std::string region;  // Region of STS and SSO; may be empty.
  std::string dns_suffix = "amazonaws.com";  // Of the region's partition.
  std::string ca_bundle_path;                // Empty: the system's.
};

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_REMOTE_CONTEXT_H_
