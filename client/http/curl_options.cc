#include "client/http/curl_options.h"

#include <algorithm>
#include <cstdint>

namespace penstock::http {

void SetConnectionOptions(CURL* handle, CURLSH* share, const std::string& ca_bundle_path) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // S3 has no HTTP/2
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, 15L);
  curl_easy_setopt(handle, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's head is not the response's
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle, CURLOPT_SHARE, share);
  if (!ca_bundle_path.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca_bundle_path.c_str());
}

void SetConnectTimeout(CURL* handle, std::chrono::milliseconds timeout) {
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, timeout.count())));
}

}  // namespace penstock::http
