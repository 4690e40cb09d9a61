// What every connection that libcurl makes for this module is set to.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_OPTIONS_H_
#define PENSTOCK_CLIENT_HTTP_CURL_OPTIONS_H_

#include <curl/curl.h>

#include <chrono>
#include <string>

namespace penstock::http {

// `share` may be null and outlives the handle; an empty bundle path: the system's.
void SetConnectionOptions(CURL* handle, CURLSH* share, const std::string& ca_bundle_path);
void SetConnectTimeout(CURL* handle, std::chrono::milliseconds timeout);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_OPTIONS_H_
