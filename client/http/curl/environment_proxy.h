// Which proxy of the environment is on the way to an endpoint, for messages. Who goes through it is
// libcurl, by the same rules.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_ENVIRONMENT_PROXY_H_
#define PENSTOCK_CLIENT_HTTP_CURL_ENVIRONMENT_PROXY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

struct EnvironmentProxy {
  // "host:port": no scheme, no credentials, printable; "?" where there is no telling them apart
  std::string address;
  std::string variable;  // that names it
  // why no request can go through it, and what to write instead; empty: nothing is known
  std::string fault;
};

// `environment`: getenv or a stand-in. nullopt: no variable names one, or `no_proxy` excludes the
// endpoint.
using GetVariable = std::function<const char*(const char* name)>;
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint, const GetVariable& environment);
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint);

// libcurl's words, which may quote a proxy's URL, without any that a variable of the environment
// holds, or its credentials.
std::string WithoutProxies(std::string_view text, const GetVariable& environment);
std::string WithoutProxies(std::string_view text);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_ENVIRONMENT_PROXY_H_
