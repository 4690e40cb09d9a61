// Converts libcurl's result codes to Errors that name the peer and the cause.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_ERROR_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_ERROR_H_

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.h"

namespace penstock::http {

// The progress of the transfer, for the message.
struct CurlFailure {
  CURLcode code = CURLE_OK;
  bool connected = false;   // the TCP connection was established; a later step failed
  int os_error = 0;         // errno of the connect; 0: unknown
  std::string_view detail;  // libcurl's error buffer
  bool head_received = false;
  std::uint64_t received_bytes = 0;
  std::optional<std::uint64_t> expected_bytes;  // Content-Length
  std::uint64_t sent_bytes = 0;
};

// Returns what libcurl knows about a handle's failure. The caller adds the progress of the
// transfer.
CurlFailure FailureOf(CURL* handle, CURLcode code, std::string_view detail);

// The message never contains the target, a header or body bytes.
Error ErrorFromCurl(const Request& request, const CurlFailure& failure);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_ERROR_H_
