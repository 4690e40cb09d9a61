// Errors of connections that name the peer and the cause.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTION_ERROR_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTION_ERROR_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

// The messages of both functions never contain the target, a header or body bytes.

// What libcurl knows about an attempt to connect that failed.
struct ConnectFailure {
  int curl_code = 0;        // CURLcode
  bool connected = false;   // the TCP connection was established; a later step failed
  int os_error = 0;         // errno of the connect; 0: unknown
  std::string_view detail;  // libcurl's error buffer
};
Error ConnectError(const Request& request, const ConnectFailure& failure);

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
