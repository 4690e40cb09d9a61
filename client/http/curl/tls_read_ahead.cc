#include "client/http/curl/tls_read_ahead.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <atomic>
#include <string>
#include <string_view>

namespace penstock::http {
namespace {

constexpr long kAheadBytes = 128 << 10;

// libcurl names what it runs with; two copies of one release agree on what they point to.
bool IsOurOpenSsl() {
  const char* const theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return theirs != nullptr &&
         theirs == std::string("OpenSSL/") + OpenSSL_version(OPENSSL_VERSION_STRING);
}

// OpenSSL's own read-ahead moves all that it has not taken, record for record. A buffer between it
// and the socket does not.
void OnState(const SSL* tls, int where, int /*result*/) {
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0) return;
  BIO* const socket = SSL_get_rbio(tls);
  // each ticket is another handshake's end
  if (socket == nullptr || BIO_method_type(socket) == BIO_TYPE_BUFFER) return;
  BIO* const ahead = BIO_new(BIO_f_buffer());
  if (ahead == nullptr) return;
  if (BIO_set_read_buffer_size(ahead, kAheadBytes) != 1 || BIO_up_ref(socket) != 1) {
    BIO_free(ahead);
    return;
  }
  // The connection lets go of its reference to the socket's, and owns the buffer, which owns that.
  SSL_set0_rbio(const_cast<SSL*>(tls), BIO_push(ahead, socket));
}

CURLcode OnContext(CURL*, void* context, void*) {
  auto* const tls = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_info_callback(tls, OnState);
  // libcurl's choice: memory taken and given back for each record
  SSL_CTX_clear_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  return CURLE_OK;
}

}  // namespace

bool LetTlsReadAhead(CURL* handle) {
  // Not a local static, whose guard a forked child could inherit locked.
  enum class Whose { kUnknown, kOurs, kOther };
  static constinit std::atomic<Whose> known{Whose::kUnknown};
  Whose whose = known.load(std::memory_order_relaxed);
  if (whose == Whose::kUnknown)
    known.store(whose = IsOurOpenSsl() ? Whose::kOurs : Whose::kOther, std::memory_order_relaxed);
  return whose == Whose::kOurs &&
         curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, OnContext) == CURLE_OK;
}

}  // namespace penstock::http
