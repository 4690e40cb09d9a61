#include "client/http/curl/curl_options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace penstock::http {
namespace {

bool IsSet(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool HasProxyFor(std::string_view scheme) {
  const bool own =
      scheme == "https" ? IsSet("https_proxy") || IsSet("HTTPS_PROXY") : IsSet("http_proxy");
  return own || IsSet("all_proxy") || IsSet("ALL_PROXY");
}

ResolveList::ResolveList(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    curl_slist* const longer = curl_slist_append(list_, entry.c_str());
    if (longer != nullptr)
      list_ = longer;  // otherwise out of memory, and creating the handle will fail too
  }
}

ResolveList::~ResolveList() { curl_slist_free_all(list_); }

void ResolveList::Apply(CURL* handle) const {
  if (list_ != nullptr) curl_easy_setopt(handle, CURLOPT_RESOLVE, list_);
}

void SetConnectionOptions(CURL* handle, CURLSH* share, const std::string& ca_bundle_path) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // S3 does not support HTTP/2.
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, 15L);
  curl_easy_setopt(handle, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  // A cached lookup keeps its order, so all connections of a burst would use the first address.
  curl_easy_setopt(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  // The response head of a proxy must not be taken for the response head of the server.
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle, CURLOPT_SHARE, share);
  if (!ca_bundle_path.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca_bundle_path.c_str());
}

void SetConnectTimeout(CURL* handle, std::chrono::milliseconds timeout) {
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, timeout.count())));
}

}  // namespace penstock::http
