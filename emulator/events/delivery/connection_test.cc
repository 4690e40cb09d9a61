// TLS connections of webhooks to a server of OpenSSL with generated certificates. webhook_test.cc
// has plain ones.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/io/descriptor.h"
#include "base/signals_blocked.h"
#include "emulator/events/delivery/connection.h"
#include "emulator/events/delivery/webhook.h"

namespace penstock::emulator::events {
namespace {

constexpr long kHour = 3600;

struct Certificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> x509;
};

struct CertificateOptions {
  const char* name = "test";
  const char* alternative_names = "";  // "DNS:localhost,IP:127.0.0.1"
  long from_s = -kHour;
  long to_s = kHour;
};

void Extend(X509* certificate, int nid, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Without an issuer: an authority.
Certificate Issue(const CertificateOptions& options, const Certificate* issuer = nullptr) {
  Certificate made{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}};
  X509* const certificate = made.x509.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), issuer == nullptr ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate), options.from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), options.to_s);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(options.name), -1, -1, 0);
  X509_set_issuer_name(certificate,
                       issuer == nullptr ? name : X509_get_subject_name(issuer->x509.get()));
  if (issuer == nullptr) Extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
  if (*options.alternative_names != '\0')
    Extend(certificate, NID_subject_alt_name, options.alternative_names);
  X509_sign(certificate, issuer == nullptr ? made.key.get() : issuer->key.get(), EVP_sha256());
  return made;
}

// A folder with the file of an authority.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "webhook_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const Certificate& certificate) const {
    const std::string path = path_ + "/ca.pem";
    std::FILE* const file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate.x509.get());
    std::fclose(file);
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Accepts one connection, and responds to each request on it with 204. Without a certificate:
// speaks plain HTTP.
class TlsReceiver {
 public:
  explicit TlsReceiver(std::optional<Certificate> certificate, int highest_version = TLS1_3_VERSION)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), raw, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), raw, &length), 0);
    port_ = ntohs(address.sin_port);
    const SignalsBlocked blocked;  // of SIGPIPE
    thread_ = std::thread([this, certificate, highest_version] {
      const Descriptor socket(::accept(listener_.get(), nullptr, nullptr));
      if (certificate) {
        Serve(socket.get(), *certificate, highest_version);
      } else {
        std::array<char, 4096> block{};
        ::recv(socket.get(), block.data(), block.size(), 0);
        ::send(socket.get(), "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL);
      }
    });
  }
  ~TlsReceiver() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return port_; }
  // What the client sent. Complete once the client has closed the connection.
  std::string Received() {
    thread_.join();
    thread_ = std::thread([] {});
    return received_;
  }

 private:
  void Serve(int socket, const Certificate& certificate, int highest_version) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX_set_security_level(context.get(), 0);  // else TLS 1.1 is disabled
    SSL_CTX_set_max_proto_version(context.get(), highest_version);
    SSL_CTX_use_certificate(context.get(), certificate.x509.get());
    SSL_CTX_use_PrivateKey(context.get(), certificate.key.get());
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), socket);
    if (SSL_accept(ssl.get()) != 1) return;
    if (const char* const name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name))
      received_ = std::string("name: ") + name + "\n";
    std::array<char, 4096> block{};
    for (int count = 0; (count = SSL_read(ssl.get(), block.data(), block.size())) > 0;) {
      received_.append(block.data(), static_cast<std::size_t>(count));
      SSL_write(ssl.get(), "HTTP/1.1 204 No Content\r\n\r\n", 27);
    }
  }

  Descriptor listener_;
  std::thread thread_;
  std::string received_;
  int port_ = 0;
};

// Sends an event to https://HOST:PORT/ with the authorities of `ca_path`.
Result<void> Send(const std::string& host, const TlsReceiver& receiver, const std::string& ca_path,
                  int times = 1) {
  const auto address =
      ParseSink("*=https://" + host + ":" + std::to_string(receiver.port()) + "/hook").value();
  const auto sink =
      MakeWebhook(address, {.ca_path = ca_path, .limit = std::chrono::minutes(1)}).value();
  std::optional<Result<void>> sent;
  const SignalsBlocked blocked;
  std::thread([&] {
    for (int i = 0; i < times; ++i) {
      const store::StoredEvent events[] = {{7, false, {"arn:q", "{\"number\":7}"}}};
      sent = sink->Send("space", events);
    }
  }).join();
  return *sent;
}

TEST(ConnectionTest, SendsToAServerWithACertificateOfTheAuthority) {
  const Folder folder;
  const Certificate authority = Issue({.name = "authority"});
  const std::string ca_path = folder.Write(authority);
  const Certificate certificate =
      Issue({.alternative_names = "DNS:localhost,IP:127.0.0.1"}, &authority);
  for (const char* host : {"localhost", "127.0.0.1"}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsReceiver receiver(certificate, version);
      const Result<void> sent = Send(host, receiver, ca_path, /*times=*/2);
      EXPECT_TRUE(sent.ok()) << host << ": " << sent.error().message;
      const std::string received = receiver.Received();
      EXPECT_EQ(received.starts_with("name: localhost\n"), std::string(host) == "localhost");
      EXPECT_NE(received.find("POST /hook HTTP/1.1\r\nHost: " + std::string(host) + ":"),
                std::string::npos)
          << received;
      // On one connection.
      EXPECT_NE(received.find("{\"number\":7}POST /hook"), std::string::npos) << received;
    }
  }
}

TEST(ConnectionTest, SendsNothingToAServerWithAnotherCertificate) {
  const Folder folder;
  const Certificate authority = Issue({.name = "authority"});
  const Certificate stranger = Issue({.name = "stranger"});
  const std::string ca_path = folder.Write(authority);
  const char* const kLocal = "DNS:localhost,IP:127.0.0.1";
  const struct {
    const char* name;
    Certificate certificate;
    const char* host;
    const char* part;
    int version = TLS1_3_VERSION;
  } kCases[] = {
      {"other name", Issue({.alternative_names = "DNS:other.test"}, &authority), "localhost",
       "hostname mismatch; give a host of the certificate instead of 'localhost'"},
      {"name in the common name only",
       Issue({.name = "localhost", .alternative_names = "DNS:other.test"}, &authority), "localhost",
       "hostname mismatch"},
      {"wildcard of a top-level name", Issue({.alternative_names = "DNS:*"}, &authority),
       "localhost", "hostname mismatch"},
      {"other address", Issue({.alternative_names = "IP:127.0.0.2"}, &authority), "127.0.0.1",
       "IP address mismatch"},
      {"address as a name", Issue({.alternative_names = "DNS:127.0.0.1"}, &authority), "127.0.0.1",
       "IP address mismatch"},
      {"unknown authority", Issue({.alternative_names = kLocal}, &stranger), "localhost",
       "unable to get local issuer certificate; name a PEM file with the certificate of its "
       "authority (event-sink-ca)"},
      {"self-signed", Issue({.alternative_names = kLocal}), "localhost", "self-signed certificate"},
      {"expired",
       Issue({.alternative_names = kLocal, .from_s = -2 * kHour, .to_s = -kHour}, &authority),
       "localhost", "certificate has expired; renew it, or correct the machine's clock"},
      {"not yet valid",
       Issue({.alternative_names = kLocal, .from_s = kHour, .to_s = 2 * kHour}, &authority),
       "localhost", "certificate is not yet valid"},
      {"old version", Issue({.alternative_names = kLocal}, &authority), "localhost",
       "did not complete a TLS handshake", TLS1_1_VERSION},
  };
  for (const auto& one : kCases) {
    TlsReceiver receiver(one.certificate, one.version);
    const Result<void> sent = Send(one.host, receiver, ca_path);
    ASSERT_FALSE(sent.ok()) << one.name;
    EXPECT_NE(sent.error().message.find(one.part), std::string::npos) << sent.error().message;
    EXPECT_EQ(receiver.Received().find("POST"), std::string::npos) << one.name;
  }
}

TEST(ConnectionTest, WithoutAFileTheSystemsAuthoritiesCount) {
  const Folder folder;
  const Certificate authority = Issue({.name = "authority"});
  const Certificate certificate = Issue({.alternative_names = "DNS:localhost"}, &authority);
  TlsReceiver unknown(certificate);
  const Result<void> refused = Send("localhost", unknown, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("unable to get local issuer certificate"),
            std::string::npos)
      << refused.error().message;
  ASSERT_EQ(::setenv("SSL_CERT_FILE", folder.Write(authority).c_str(), 1), 0);
  TlsReceiver known(certificate);
  EXPECT_TRUE(Send("localhost", known, "").ok());
  ASSERT_EQ(::unsetenv("SSL_CERT_FILE"), 0);
}

TEST(ConnectionTest, APlainServerIsNoTlsServer) {
  TlsReceiver receiver(std::nullopt);
  const Result<void> sent = Send("localhost", receiver, "");
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("did not complete a TLS handshake: wrong version number"),
            std::string::npos)
      << sent.error().message;
}

TEST(ConnectionTest, TheFileOfTheAuthoritiesIsChecked) {
  const Folder folder;
  const std::string text = folder.path() + "/text.pem";
  std::FILE* const file = std::fopen(text.c_str(), "w");
  std::fputs("no certificate\n", file);
  std::fclose(file);
  const std::string pipe = folder.path() + "/pipe.pem";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(CheckAuthorities(folder.Write(Issue({.name = "authority"}))).ok());
  for (const std::string& path : {text, pipe, folder.path(), folder.path() + "/none.pem"}) {
    const Result<void> checked = CheckAuthorities(path);
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_EQ(checked.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(checked.error().message.find("event sinks: the CA file '" + path + "'"),
              std::string::npos)
        << checked.error().message;
  }
}

TEST(ConnectionTest, AFileThatDisappearedIsReported) {
  const Folder folder;
  const Certificate authority = Issue({.name = "authority"});
  TlsReceiver receiver(Issue({.alternative_names = "DNS:localhost"}, &authority));
  const Result<void> sent = Send("localhost", receiver, folder.path() + "/none.pem");
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("was not contacted: the CA file"), std::string::npos)
      << sent.error().message;
}

}  // namespace
}  // namespace penstock::emulator::events
