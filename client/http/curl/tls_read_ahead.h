// Lets libcurl's TLS receive many records at a time, where by itself it asks for each record's head
// and for its body.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_TLS_READ_AHEAD_H_
#define PENSTOCK_CLIENT_HTTP_CURL_TLS_READ_AHEAD_H_

#include <curl/curl.h>

namespace penstock::http {

// For a handle that only connects: whoever receives through it asks until it would block, since
// what has come may wait inside, where no poll sees it; libcurl's own transfers do not ask so. From
// the end of the handshake on.
//
// False, and nothing is changed: libcurl's TLS is not the OpenSSL that this program is linked with.
bool LetTlsReadAhead(CURL* handle);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_TLS_READ_AHEAD_H_
