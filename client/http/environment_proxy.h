// Which proxy of the environment is on the way to an endpoint, for messages. Who goes through it is libcurl, by the same rules.
#ifndef PENSTOCK_CLIENT_HTTP_ENVIRONMENT_PROXY_H_
#define PENSTOCK_CLIENT_HTTP_ENVIRONMENT_PROXY_H_

#include <functional>
#include <optional>
#include <string>

#include "client/http/transport.h"

namespace penstock::http {

struct EnvironmentProxy {
  std::string address;   // "host:port": no scheme, no credentials, printable
  std::string variable;  // that names it
};

// `environment`: getenv or a stand-in. nullopt: no variable names one, or `no_proxy` excludes the endpoint.
using GetVariable = std::function<const char*(const char* name)>;
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint, const GetVariable& environment);
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_ENVIRONMENT_PROXY_H_
