// Lets libcurl's TLS receive many records with one system call. By default it makes two calls per
// record, one for its header and one for its body.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_

#include <curl/curl.h>

namespace penstock::http {

// For a handle that only connects. The reader must read until it would block, because received
// bytes may be buffered inside, where poll does not see them. libcurl's own transfers do not do
// that. Takes effect at the end of the handshake.
//
// Returns false and changes nothing if libcurl's TLS is not the OpenSSL that this program is linked
// with.
bool LetTlsReadAhead(CURL* handle);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_
