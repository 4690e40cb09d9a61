// The libcurl options of every connection of this module.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_

#include <curl/curl.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// Fixed addresses of host names, in the format of CURLOPT_RESOLVE. Must outlive the handles that
// use it.
class ResolveList {
 public:
  explicit ResolveList(const std::vector<std::string>& entries);
  ~ResolveList();
  ResolveList(const ResolveList&) = delete;
  ResolveList& operator=(const ResolveList&) = delete;
  // Applies the list to `handle` if it has entries.
  void Apply(CURL* handle) const;

 private:
  curl_slist* list_ = nullptr;
};

// Returns whether the environment names a proxy for "http" or "https" requests.
bool HasProxyFor(std::string_view scheme);

// `share` may be null and must outlive the handle. An empty bundle path selects the system's
// bundle. Each new connection resolves its host again and tries the addresses in random order, so
// that connections use all addresses of a service.
void SetConnectionOptions(CURL* handle, CURLSH* share, const std::string& ca_bundle_path);
void SetConnectTimeout(CURL* handle, std::chrono::milliseconds timeout);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_
