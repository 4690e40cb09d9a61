// What providers that ask somebody for credentials need of the world.
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
  const Clock* clock = nullptr;              // lives forever
  std::function<TransportPtr()> transport;   // asked at every call: a fork may change the answer
  std::string region;                        // whose STS and SSO are asked; may be empty
  std::string dns_suffix = "amazonaws.com";  // of the region's partition
  std::string ca_bundle_path;                // empty: the system's
};

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_REMOTE_CONTEXT_H_
