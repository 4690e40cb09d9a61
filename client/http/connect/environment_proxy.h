// Finds the proxy that the environment configures for an endpoint. libcurl itself connects to the
// proxy, and chooses it by the same rules.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_ENVIRONMENT_PROXY_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_ENVIRONMENT_PROXY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

// Also a proxy of ConnectSettings, with the same rules.
struct EnvironmentProxy {
  // "host:port" without scheme and credentials, printable. "?" if it cannot be parsed.
  std::string address;
  std::string variable;  // the environment variable, or "ClientConfig::proxy"
  std::string url;       // secret
  // Why no request can use it, and the correct form. Empty: no known problem.
  std::string fault;
  // An HTTP proxy: it forwards unencrypted requests, which then have an absolute target (RFC 9112,
  // section 3.2.2). Other proxies relay bytes.
  bool forwards = false;
  bool is_tls = false;        // the connection to the proxy is encrypted
  std::string authorization;  // secret value of Proxy-Authorization; empty: none
};

// `environment` is getenv or a substitute. Returns nullopt if no variable names a proxy, or if
// `no_proxy` excludes the endpoint.
using GetVariable = std::function<const char*(const char* name)>;
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint, const GetVariable& environment);
std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint);
// That of the request's ConnectSettings, if they have one, else that of the environment.
std::optional<EnvironmentProxy> ProxyFor(const Request& request);

// Returns whether the environment names a proxy for "http" or "https" requests. Does not read
// `no_proxy`.
bool HasProxyFor(std::string_view scheme);
// Same for the proxy that ProxyFor(request) uses.
bool HasProxyFor(const Request& request);

// The credentials of the environment's proxies. The constructor reads the environment, once for any
// number of texts.
class ProxySecrets {
 public:
  explicit ProxySecrets(const GetVariable& environment);
  ProxySecrets();
  // The credentials of a proxy URL.
  explicit ProxySecrets(std::string_view url);

  // Replaces the credentials in `text`, which may come from libcurl, a proxy or a server: as they
  // are, percent-encoded, and in the form of Proxy-Authorization.
  void Redact(std::string& text) const;

 private:
  std::vector<std::string> values_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_ENVIRONMENT_PROXY_H_
