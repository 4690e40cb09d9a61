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

// Returns whether libcurl's TLS is the OpenSSL that this program is linked with, so that its
// structures may be changed. Safe from any thread.
bool UsesOurOpenSsl();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CURL_GLOBAL_H_
