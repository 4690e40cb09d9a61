// What libcurl and fork() need once per process.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_GLOBAL_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_GLOBAL_H_

namespace penstock::http {

// Changes in every forked child, so that what holds threads or sockets can tell it was inherited.
// Thread safety: any thread.
unsigned ForkGeneration();

// curl_global_init, at the first call. False when libcurl cannot start. Safe from any thread, also
// while another one forks.
bool InitCurl();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_GLOBAL_H_
