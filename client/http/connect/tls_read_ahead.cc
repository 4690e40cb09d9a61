#include "client/http/connect/tls_read_ahead.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <atomic>
#include <string>
#include <string_view>

namespace penstock::http {
namespace {

constexpr long kAheadBytes = 128 << 10;

// libcurl reports its OpenSSL version. Two copies of the same release have the same structures.
bool IsOurOpenSsl() {
  const char* const theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return theirs != nullptr &&
         theirs == std::string("OpenSSL/") + OpenSSL_version(OPENSSL_VERSION_STRING);
}

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

CURLcode OnContext(CURL*, void* context, void*) {
  auto* const tls = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_info_callback(tls, OnState);
  // libcurl sets this mode, which allocates and frees memory for each record.
  SSL_CTX_clear_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  return CURLE_OK;
}

}  // namespace

bool LetTlsReadAhead(CURL* handle) {
  // Not a local static, because a forked child could inherit its guard locked.
  enum class Whose { kUnknown, kOurs, kOther };
  static constinit std::atomic<Whose> known{Whose::kUnknown};
  Whose whose = known.load(std::memory_order_relaxed);
  if (whose == Whose::kUnknown)
    known.store(whose = IsOurOpenSsl() ? Whose::kOurs : Whose::kOther, std::memory_order_relaxed);
  return whose == Whose::kOurs &&
         curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, OnContext) == CURLE_OK;
}

}  // namespace penstock::http
