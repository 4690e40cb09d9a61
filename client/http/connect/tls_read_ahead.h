// Lets libcurl's TLS receive many records with one system call. By default it makes two calls per
// record, one for its header and one for its body.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_

#include <openssl/types.h>

namespace penstock::http {

// For the context of a connection that libcurl only connects, before its handshake. The reader must
// read until it would block, because received bytes may be buffered inside, where poll does not see
// them. libcurl's own transfers do not do that. Takes effect at the end of the handshake.
void LetTlsReadAhead(SSL_CTX* context);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_TLS_READ_AHEAD_H_
