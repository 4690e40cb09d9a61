// libcurl's result codes as Errors that name the peer and say what happened.
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

// How far the transfer had come, for the message.
struct CurlFailure {
  CURLcode code = CURLE_OK;
  bool connected = false;   // TCP was through; what failed came after
  int os_error = 0;         // errno of the connect, 0: unknown
  std::string_view detail;  // libcurl's error buffer
  bool head_received = false;
  std::uint64_t received_bytes = 0;
  std::optional<std::uint64_t> expected_bytes;  // Content-Length
  std::uint64_t sent_bytes = 0;
};

// What libcurl can say of a handle's failure; how far the transfer had come is the caller's to add.
CurlFailure FailureOf(CURL* handle, CURLcode code, std::string_view detail);

// Never holds the target, a header or a body byte.
Error ErrorFromCurl(const Request& request, const CurlFailure& failure);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_ERROR_H_
