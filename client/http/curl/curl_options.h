// What every connection that libcurl makes for this module is set to.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_

#include <curl/curl.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// Names with the addresses they have, as CURLOPT_RESOLVE takes them. Outlives the handles it is
// given to.
class ResolveList {
 public:
  explicit ResolveList(const std::vector<std::string>& entries);
  ~ResolveList();
  ResolveList(const ResolveList&) = delete;
  ResolveList& operator=(const ResolveList&) = delete;
  // Makes `handle` use it, where there are entries.
  void Apply(CURL* handle) const;

 private:
  curl_slist* list_ = nullptr;
};

// Whether the environment names a proxy for "http" or "https" requests.
bool HasProxyFor(std::string_view scheme);

// `share` may be null and outlives the handle; an empty bundle path: the system's. Each new
// connection looks its host up anew and tries the addresses in random order, so that connections
// spread over all that a service has.
void SetConnectionOptions(CURL* handle, CURLSH* share, const std::string& ca_bundle_path);
void SetConnectTimeout(CURL* handle, std::chrono::milliseconds timeout);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_OPTIONS_H_
