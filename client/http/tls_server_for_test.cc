#include "client/http/tls_server_for_test.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::http {
namespace {

void AddExtension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  PENSTOCK_CHECK(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// Creates a self-signed certificate for 127.0.0.1. Each has another subject: OpenSSL looks into a
// directory only if the bundle has no authority of that name.
X509* MakeCertificate(EVP_PKEY* key) {
  static std::atomic<int> made{0};
  const std::string subject = "Penstock test " + std::to_string(made.fetch_add(1));
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  AddExtension(certificate, NID_subject_alt_name, "IP:127.0.0.1");
  AddExtension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  PENSTOCK_CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
  return certificate;
}

// Writes a new file by `write`, which returns 1, and returns its path.
template <class Write>
std::string WriteFile(Write write) {
  std::string path = (std::filesystem::temp_directory_path() / "penstock-tls-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  PENSTOCK_CHECK(fd >= 0);
  std::FILE* const file = ::fdopen(fd, "w");
  PENSTOCK_CHECK(file != nullptr && write(file) == 1);
  std::fclose(file);
  return path;
}

}  // namespace

// TLS between memory buffers: the script decides when bytes are sent.
struct TlsConnection::Session {
  explicit Session(SSL_CTX* context)
      : tls(SSL_new(context)), from_client(BIO_new(BIO_s_mem())), to_client(BIO_new(BIO_s_mem())) {
    SSL_set_bio(tls, from_client, to_client);
  }
  ~Session() { SSL_free(tls); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Returns the bytes to send.
  std::string Take() {
    std::string bytes(BIO_ctrl_pending(to_client), '\0');
    if (!bytes.empty()) BIO_read(to_client, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  bool Receive(RawConnection& raw) {
    const std::string bytes = raw.ReadSome();
    return !bytes.empty() &&
           BIO_write(from_client, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  bool Accept(RawConnection& raw) {
    for (;;) {
      const bool done = SSL_accept(tls) == 1;
      if (!raw.Send(Take())) return false;
      if (done) return true;
      if (!Receive(raw)) return false;
    }
  }

  SSL* const tls;
  BIO* const from_client;
  BIO* const to_client;
};

std::optional<std::string> TlsConnection::ReadHead() {
  std::array<char, 4096> piece{};
  for (;;) {
    if (const std::size_t end = read_.find("\r\n\r\n"); end != std::string::npos) {
      std::string head = read_.substr(0, end + 4);
      read_.erase(0, end + 4);
      return head;
    }
    const int count = SSL_read(session_.tls, piece.data(), static_cast<int>(piece.size()));
    if (count > 0) {
      read_.append(piece.data(), static_cast<std::size_t>(count));
    } else if (!session_.Receive(raw_)) {
      return std::nullopt;
    }
  }
}

void TlsConnection::Write(std::string_view text) {
  PENSTOCK_CHECK(SSL_write(session_.tls, text.data(), static_cast<int>(text.size())) ==
                 static_cast<int>(text.size()));
}

bool TlsConnection::Flush() { return raw_.Send(session_.Take()); }

bool TlsConnection::resumed() const { return SSL_session_reused(session_.tls) == 1; }

void TlsConnection::SendCloseNotify() { SSL_shutdown(session_.tls); }

struct TlsServer::Context {
  explicit Context(ClientCertificate client_certificate)
      : tls(SSL_CTX_new(TLS_server_method())),
        key(EVP_EC_gen("P-256")),
        certificate(MakeCertificate(key)) {
    PENSTOCK_CHECK(SSL_CTX_use_certificate(tls, certificate) == 1 &&
                   SSL_CTX_use_PrivateKey(tls, key) == 1);
    path = WriteFile([&](std::FILE* file) { return PEM_write_X509(file, certificate); });
    key_path = WriteFile([&](std::FILE* file) {
      return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    encrypted_key_path = WriteFile([&](std::FILE* file) {
      return PEM_write_PKCS8PrivateKey(file, key, EVP_aes_256_cbc(), kKeyPassword.data(),
                                       static_cast<int>(kKeyPassword.size()), nullptr, nullptr);
    });
    if (client_certificate == ClientCertificate::kNone) return;
    PENSTOCK_CHECK(SSL_CTX_load_verify_locations(tls, path.c_str(), nullptr) == 1);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  ~Context() {
    std::filesystem::remove(path);
    std::filesystem::remove(key_path);
    std::filesystem::remove(encrypted_key_path);
    X509_free(certificate);
    EVP_PKEY_free(key);
    SSL_CTX_free(tls);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SSL_CTX* const tls;
  EVP_PKEY* const key;
  X509* const certificate;
  std::string path;
  std::string key_path;
  std::string encrypted_key_path;
};

TlsServer::TlsServer(Script script, ClientCertificate client_certificate)
    : context_(std::make_unique<Context>(client_certificate)) {
  server_ = std::make_unique<RawServer>([this, script = std::move(script)](RawConnection& raw) {
    TlsConnection::Session session(context_->tls);
    if (!session.Accept(raw)) return;
    TlsConnection connection(raw, session);
    script(connection);
  });
}

TlsServer::~TlsServer() = default;

std::string TlsServer::key_path() const { return context_->key_path; }
std::string TlsServer::encrypted_key_path() const { return context_->encrypted_key_path; }

std::string TlsServer::hashed_name() const {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "%08lx.0", X509_subject_name_hash(context_->certificate));
  return name.data();
}

Request TlsServer::Get(std::string target) const {
  Request request = server_->Get(std::move(target));
  request.endpoint.scheme = "https";
  request.ca_bundle_path = context_->path;
  return request;
}

}  // namespace penstock::http
