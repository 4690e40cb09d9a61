// Process-wide state for libcurl and fork().
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_CURL_GLOBAL_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_CURL_GLOBAL_H_

namespace penstock::http {

// Returns a number that changes in every forked child. Owners of threads or sockets compare it to
// detect that they were inherited. Thread safety: any thread.
unsigned ForkGeneration();

// Calls curl_global_init once. Returns false if libcurl cannot start. Safe from any thread, also
// while another thread forks.
bool InitCurl();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CURL_GLOBAL_H_
