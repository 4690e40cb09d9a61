// Errors of connections that name the peer and the cause.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTION_ERROR_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTION_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "client/http/connect/environment_proxy.h"
#include "client/http/transport.h"

namespace penstock::http {

// The messages of these functions never contain the target, a header, body bytes or credentials.

// Limits the head of a proxy's response to CONNECT, which libcurl reads byte by byte on the I/O
// thread.
inline constexpr std::size_t kMaxTunnelHeadBytes = 8 << 10;

// What libcurl knows about an attempt to connect that failed.
struct ConnectFailure {
  int curl_code = 0;                  // CURLcode
  bool connected = false;             // the TCP connection was established; a later step failed
  int os_error = 0;                   // errno of the connect; 0: unknown
  std::string_view detail;            // libcurl's error buffer
  int tunnel_status = 0;              // the proxy's response to CONNECT; 0: none
  bool tunnel_head_too_long = false;  // that response is longer than kMaxTunnelHeadBytes
};
Error ConnectError(const Request& request, const ConnectFailure& failure);

// The error for a proxy whose `fault` is not empty. The caller must not connect: libcurl ignores
// some of these proxies, and would connect without one.
Error ProxyUrlError(const Request& request, const EnvironmentProxy& proxy);

// The error for a proxy that requires credentials or refuses those that it got (407, RFC 9110
// section 15.5.8).
Error ProxyCredentialsError(const Request& request, const EnvironmentProxy& proxy);

// The progress of an exchange whose connection ended too early.
struct LostConnection {
  std::string_view detail;  // why; may be empty
  bool head_received = false;
  std::uint64_t received_bytes = 0;
  std::optional<std::uint64_t> expected_bytes;  // Content-Length
  std::uint64_t sent_bytes = 0;
};
Error LostConnectionError(const Request& request, const LostConnection& lost);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTION_ERROR_H_
