#include "client/http/connect/tls_read_ahead.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

namespace penstock::http {
namespace {

constexpr long kAheadBytes = 128 << 10;

// OpenSSL's own read-ahead moves the unread rest for each record. A buffering BIO between OpenSSL
// and the socket does not.
void OnState(const SSL* tls, int where, int /*result*/) {
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0) return;
  BIO* const socket = SSL_get_rbio(tls);
  // A session ticket ends another handshake, so the buffer may already exist.
  if (socket == nullptr || BIO_method_type(socket) == BIO_TYPE_BUFFER) return;
  BIO* const ahead = BIO_new(BIO_f_buffer());
  if (ahead == nullptr) return;
  if (BIO_set_read_buffer_size(ahead, kAheadBytes) != 1 || BIO_up_ref(socket) != 1) {
    BIO_free(ahead);
    return;
  }
  // Transfers ownership: the connection owns the buffer, which owns the socket BIO.
  SSL_set0_rbio(const_cast<SSL*>(tls), BIO_push(ahead, socket));
}

}  // namespace

void LetTlsReadAhead(SSL_CTX* context) {
  SSL_CTX_set_info_callback(context, OnState);
  // libcurl sets this mode, which allocates and frees memory for each record.
  SSL_CTX_clear_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace penstock::http
