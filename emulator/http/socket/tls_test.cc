#include "emulator/http/socket/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

// A self-signed certificate for "localhost" in its own temporary directory.
class Certificate {
 public:
  Certificate() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tls_test_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* file = std::fopen(certificate_path().c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
    file = std::fopen(key_path().c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    file = std::fopen(encrypted_key_path().c_str(), "w");
    PEM_write_PrivateKey(file, key, EVP_aes_256_cbc(), nullptr, 0, nullptr,
                         const_cast<char*>("secret"));
    std::fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~Certificate() { std::filesystem::remove_all(folder_); }
  std::string certificate_path() const { return folder_ + "/certificate.pem"; }
  std::string key_path() const { return folder_ + "/key.pem"; }
  std::string encrypted_key_path() const { return folder_ + "/encrypted.pem"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// A blocking TLS client over a connected TestClient.
class TlsClient {
 public:
  explicit TlsClient(int port, int highest_version = 0)
      : client_(port), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, highest_version);
    SSL_CTX_set_mode(context_, SSL_MODE_AUTO_RETRY);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, client_.fd());
    connected_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  bool connected() const { return connected_; }
  std::string version() const { return SSL_get_version(ssl_); }
  bool Send(std::string_view text) {
    std::size_t sent = 0;
    return text.empty() ||
           (SSL_write_ex(ssl_, text.data(), text.size(), &sent) == 1 && sent == text.size());
  }
  // Returns everything until the server's close_notify. `orderly`: whether there was one.
  std::string ReadToEnd(bool& orderly) {
    std::string text;
    std::vector<char> buffer(64 << 10);
    std::size_t got = 0;
    int done = 0;
    while ((done = SSL_read_ex(ssl_, buffer.data(), buffer.size(), &got)) == 1)
      text.append(buffer.data(), got);
    orderly = SSL_get_error(ssl_, done) == SSL_ERROR_ZERO_RETURN;
    return text;
  }

 private:
  TestClient client_;
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
};

class TlsTest : public testing::Test {
 protected:
  std::unique_ptr<Server> Start(message::Handler& handler, ServerOptions options = {}) {
    options.tls_certificate_path = certificate_.certificate_path();
    options.tls_key_path = certificate_.key_path();
    return StartServer(handler, std::move(options));
  }
  Certificate certificate_;
};

// The message of a refused key pair.
std::string Refusal(const std::string& certificate_path, const std::string& key_path) {
  const auto context = TlsContext::Create(certificate_path, key_path);
  EXPECT_FALSE(context.ok());
  return context.ok() ? "" : context.error().message;
}

TEST_F(TlsTest, AnEncryptedKeyIsRefusedWithoutAQuestion) {
  EXPECT_EQ(Refusal(certificate_.certificate_path(), certificate_.encrypted_key_path()),
            "The TLS key file '" + certificate_.encrypted_key_path() +
                "' is encrypted, and the emulator asks for no pass phrase; decrypt it (openssl "
                "pkey -in ENCRYPTED -out DECRYPTED) and name the decrypted file");
}

TEST_F(TlsTest, FilesThatAreNotRegularAreRefusedAtOnce) {
  const std::string fifo = certificate_.folder() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, certificate_.folder(), std::string("/dev/zero")}) {
    const std::string refused = "'" + path + "' is not a regular file; name a PEM file";
    EXPECT_EQ(Refusal(path, certificate_.key_path()), "The TLS certificate file " + refused);
    EXPECT_EQ(Refusal(certificate_.certificate_path(), path), "The TLS key file " + refused);
  }
}

// Each client sends only the first bytes of a ClientHello.
TEST_F(TlsTest, StalledHandshakesDelayNoOther) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 1;
  options.idle_timeout = std::chrono::milliseconds(10'000);
  const auto server = Start(handler, options);
  std::vector<TestClient> stalled;
  for (int i = 0; i < 20; ++i) {
    stalled.emplace_back(server->port());
    stalled.back().Send(std::string_view("\x16\x03\x01\x02\x00", 5));
  }
  TlsClient client(server->port());
  ASSERT_TRUE(client.connected());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  bool orderly = false;
  EXPECT_TRUE(client.ReadToEnd(orderly).ends_with("\r\n\r\nx"));
  EXPECT_TRUE(stalled.front().Silent());
}

TEST_F(TlsTest, RoundTripsBodiesBothWays) {
  const std::string text = PatternText(3 << 20);
  const auto memory = std::make_shared<MemoryBlob>(text);
  const auto file = std::make_shared<FileBlob>(text);
  bool tls = false;
  FunctionHandler handler([&](message::Exchange& exchange) {
    tls = exchange.connection.tls;
    const bool same = ReadBody(*exchange.body) == text;
    Content content = ContentOf(memory);
    content.slices.push_back({file, {0, text.size()}});
    if (same) exchange.response.body = content;
  });
  const auto server = Start(handler);
  TlsClient client(server->port());
  ASSERT_TRUE(client.connected());
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " +
              std::to_string(text.size()) + "\r\n\r\n");
  client.Send(text);
  bool orderly = false;
  const std::string response = client.ReadToEnd(orderly);
  EXPECT_TRUE(orderly);
  EXPECT_TRUE(tls);
  EXPECT_TRUE(response.substr(response.find("\r\n\r\n") + 4) == text + text);
}

TEST_F(TlsTest, ServesPipelinedRequestsFromOneRecord) {
  FunctionHandler handler([](message::Exchange& exchange) {
    RespondWith(exchange, std::string(exchange.request.target));
  });
  const auto server = Start(handler);
  TlsClient client(server->port());
  client.Send(
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  bool orderly = false;
  const std::string response = client.ReadToEnd(orderly);
  EXPECT_NE(response.find("\r\n\r\n/a"), std::string::npos);
  EXPECT_NE(response.find("\r\n\r\n/b"), std::string::npos);
}

TEST_F(TlsTest, RandomBytesEndOnlyTheirConnection) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "served"); });
  ServerOptions options;
  options.progress_timeout = std::chrono::milliseconds(300);
  const auto server = Start(handler, options);
  std::vector<TestClient> hostile;
  // The start of a ClientHello, then nothing or noise.
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  for (const std::string& junk :
       {std::string("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), PatternText(5'000), hello,
        hello + PatternText(600), std::string("\x15\x03\x03\x00\x02\x02\x28", 7),
        std::string(70'000, '\x16')}) {
    hostile.emplace_back(server->port());
    hostile.back().Send(junk);
  }
  TlsClient good(server->port());
  ASSERT_TRUE(good.connected());
  good.Send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  bool orderly = false;
  EXPECT_NE(good.ReadToEnd(orderly).find("served"), std::string::npos);
  for (TestClient& client : hostile) {
    int error = 0;
    EXPECT_EQ(client.ReadToEnd(&error).find("HTTP/"), std::string::npos);
    EXPECT_NE(error, ETIMEDOUT);
  }
}

TEST_F(TlsTest, AcceptsOnlyTls12And13) {
  FunctionHandler handler([](message::Exchange&) {});
  const auto server = Start(handler);
  EXPECT_EQ(TlsClient(server->port()).version(), "TLSv1.3");
  EXPECT_EQ(TlsClient(server->port(), TLS1_2_VERSION).version(), "TLSv1.2");
  EXPECT_FALSE(TlsClient(server->port(), TLS1_1_VERSION).connected());
}

// The result of a client's handshake. It offers the session of an earlier handshake, if given, and
// accepts any certificate.
struct Handshake {
  explicit Handshake(int port, SSL_SESSION* earlier = nullptr) : client(port) {
    SSL_set_fd(ssl.get(), client.fd());
    if (earlier != nullptr) SSL_set_session(ssl.get(), earlier);
    connected = SSL_connect(ssl.get()) == 1;
    if (!connected) return;
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(ssl.get()), &X509_free);
    std::array<char, 256> text{};
    issuer = X509_NAME_oneline(X509_get_issuer_name(certificate.get()), text.data(), text.size());
    reused = SSL_session_reused(ssl.get()) == 1;
  }
  TestClient client;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context = MakeContext();
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.get()), &SSL_free};
  bool connected = false;
  bool reused = false;
  std::string issuer;

 private:
  // With TLS 1.2 the session is known at the end of the handshake.
  static std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> MakeContext() {
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> made(SSL_CTX_new(TLS_client_method()),
                                                           &SSL_CTX_free);
    SSL_CTX_set_max_proto_version(made.get(), TLS1_2_VERSION);
    return made;
  }
};

TEST_F(TlsTest, FlawedCertificateIsPresentedWithoutResumption) {
  FunctionHandler handler([](message::Exchange&) {});
  std::atomic<CertificateFlaw> flaw = CertificateFlaw::kNone;
  std::atomic<bool> may_sign = true;
  ServerOptions options;
  options.on_accept = [&](const Arrival& arrival) {
    may_sign = arrival.certificate_may_sign;
    return AcceptDecision{.flaw = flaw};
  };
  const auto server = Start(handler, options);
  const Handshake good(server->port());
  ASSERT_TRUE(good.connected);
  EXPECT_EQ(good.issuer, "/CN=localhost");
  EXPECT_FALSE(may_sign) << "it has no basic constraints";
  EXPECT_TRUE(Handshake(server->port(), SSL_get_session(good.ssl.get())).reused);
  flaw = CertificateFlaw::kUnknownAuthority;
  const Handshake flawed(server->port(), SSL_get_session(good.ssl.get()));
  ASSERT_TRUE(flawed.connected);
  EXPECT_FALSE(flawed.reused) << "a resumed session shows no certificate";
  EXPECT_EQ(flawed.issuer, "/CN=penstock-emulator unknown authority");
  flaw = CertificateFlaw::kNone;
  EXPECT_EQ(Handshake(server->port()).issuer, "/CN=localhost");
}

TEST_F(TlsTest, TimesOutAMissingHandshake) {
  FunctionHandler handler([](message::Exchange&) {});
  ServerOptions options;
  options.progress_timeout = std::chrono::milliseconds(50);
  const auto server = Start(handler, options);
  TestClient stalled(server->port());
  stalled.Send("\x16\x03\x01");
  int error = -1;
  stalled.ReadToEnd(&error);
  EXPECT_EQ(error, 0);
  TestClient plain(server->port());
  plain.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  plain.ReadToEnd(&error);
  EXPECT_NE(error, ETIMEDOUT);
}

TEST_F(TlsTest, ClosedPeerRaisesNoSignal) {
  const std::string large(32 << 20, 'x');
  FunctionHandler handler([&](message::Exchange& exchange) { RespondWith(exchange, large); });
  const auto server = Start(handler);
  {
    TlsClient client(server->port());
    client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  TlsClient next(server->port());
  EXPECT_TRUE(next.connected());
}

TEST_F(TlsTest, NamesUnusableFilesInTheError) {
  const auto missing = TlsContext::Create("/nonexistent/c.pem", certificate_.key_path());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(missing.error().message.find("/nonexistent/c.pem"), std::string::npos);
  const auto swapped =
      TlsContext::Create(certificate_.certificate_path(), certificate_.certificate_path());
  ASSERT_FALSE(swapped.ok());
  const Certificate other;
  const auto mixed = TlsContext::Create(certificate_.certificate_path(), other.key_path());
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.error().message.find(other.key_path()), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::http
