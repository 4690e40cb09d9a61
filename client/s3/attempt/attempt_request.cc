#include "client/s3/attempt/attempt_request.h"

#include <algorithm>

#include "client/http/connect/environment_proxy.h"
#include "client/http/uri.h"
#include "client/s3/attempt/time_limits.h"

#ifndef PENSTOCK_VERSION
#error "the build defines PENSTOCK_VERSION"
#endif

namespace penstock::s3 {
namespace {

// Capacity for Host, two SDK headers, User-Agent and the signer's four, so that adding the last one
// does not reallocate.
constexpr std::size_t kOwnHeaders = 8;

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

Result<void> CheckMayCarryKey(const WireRequest& request, const http::Endpoint& endpoint,
                              const std::shared_ptr<const http::ConnectSettings>& connect) {
  if (!request.carries_customer_key || endpoint.scheme == "https") return Ok();
  if (IsLoopback(endpoint.host)) {
    http::Request request_to;
    request_to.endpoint = endpoint;
    request_to.connect = connect;
    const auto proxy = http::ProxyFor(request_to);
    if (!proxy) return Ok();
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the request has an SSE-C key, and http://" + endpoint.host +
                           " is reached without encryption through the proxy " + proxy->address +
                           " (" + proxy->variable + "); add the host to no_proxy, or use https");
  }
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the request has an SSE-C key, and the endpoint http://" + endpoint.host +
                         " is not encrypted; use https, or a loopback address");
}

std::string MakeTarget(const WireRequest& request, const ResolvedEndpoint& endpoint) {
  std::string target = endpoint.BasePath(request.bucket);
  if (!request.key.empty()) target += "/" + http::EncodePath(request.key);
  if (target.empty()) target = "/";
  if (!request.query.empty()) target += "?" + http::BuildQuery(request.query);
  return target;
}

http::Request MakeAttempt(const WireRequest& request, const ResolvedEndpoint& endpoint,
                          const ClientConfig& config, const AttemptFacts& facts) {
  http::Request out;
  out.method = Info(request.operation).method;
  out.endpoint = endpoint.endpoint;
  out.target = MakeTarget(request, endpoint);
  out.headers.reserve(request.headers.size() + kOwnHeaders);
  out.headers.push_back({"Host", endpoint.authority});
  out.headers.insert(out.headers.end(), request.headers.begin(), request.headers.end());
  out.headers.push_back({"amz-sdk-invocation-id", std::string(facts.invocation_id)});
  out.headers.push_back({"amz-sdk-request", "attempt=" + std::to_string(facts.attempt) + "; max=" +
                                                std::to_string(config.max_attempts.value_or(0))});
  out.headers.push_back({"User-Agent", std::string(facts.user_agent)});
  out.ca_bundle_path = config.ca_bundle_path;
  out.connect_timeout = config.connect_timeout;
  out.idle_timeout = IdleTimeout(Info(request.operation), config);
  return out;
}

std::string MakeUserAgent(std::string_view prefix) {
  std::string agent(prefix);
  if (!agent.empty()) agent += ' ';
  return agent + "penstock/" PENSTOCK_VERSION " ua/2.1 os/linux lang/c++";
}

}  // namespace penstock::s3
