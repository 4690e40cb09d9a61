#include "client/http/connect/connector.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/connect/address_circuit_breaker.h"
#include "client/http/connect/connected_socket.h"
#include "client/http/connect/curl_global.h"
#include "client/http/proxy_variable_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/tls_server_for_test.h"

namespace penstock::http {
namespace {

constexpr std::string_view kSlowHost = "slow.test";

// A lookup of kSlowHost that lasts until Release().
class SlowLookup {
 public:
  void Wait() {
    released_.get_future().wait_for(std::chrono::seconds(20));
    ended_.set_value();
  }
  void Release() { released_.set_value(); }
  void AwaitEnd() { ended_.get_future().wait(); }

 private:
  std::promise<void> released_, ended_;
};
SlowLookup* slow_lookup = nullptr;

// Calls of OpenSSL that parse a bundle: of libcurl, and of this client.
int loaded_files = 0;
int parsed_bundles = 0;

// Returns a request whose connection is a tunnel through the proxy on this port.
Request Tunnelled() {
  Request request;
  request.endpoint = {"https", "s3.example", 443};
  request.connect_timeout = std::chrono::seconds(30);
  return request;
}

class ConnectorTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(InitCurl()); }
  ~ConnectorTest() override {
    handle_.reset();
    connector_.reset();
    ::close(epoll_fd_);
  }
  // Runs the connector until the attempt has ended. Returns whether there is a connection.
  bool Connect(const Request& request, bool tries_all = false) {
    handle_ = connector_->Connect(request, this, tries_all);
    bool ended = false;
    while (!ended) {
      epoll_event events[8];
      const int count = ::epoll_wait(epoll_fd_, events, 8, 10);
      for (int i = 0; i < count; ++i) {
        const auto fd = Connector::FromTag(events[i].data.u64);
        EXPECT_TRUE(fd.has_value());
        if (fd) connector_->OnEvents(*fd, events[i].events);
      }
      connector_->OnTime(SystemClock().Monotonic());
      connector_->Finished([&](void* owner) {
        EXPECT_EQ(owner, this);
        ended = true;
      });
    }
    return handle_->Socket() >= 0;
  }

  // Returns the error of a tunnel that the proxy's response prevents, long before the timeout.
  Error RefusedTunnel() {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(Connect(Tunnelled()));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, Tunnelled().connect_timeout / 2);
    return handle_->ErrorOf(Tunnelled());
  }

  const int epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::optional<Connector> connector_{std::in_place, epoll_fd_};
  std::unique_ptr<ConnectHandle> handle_;
};

TEST_F(ConnectorTest, HandsOverAConnectedSocketAndStopsWatchingIt) {
  RawServer server([](RawConnection& connection) { connection.Send("hello"); });
  ASSERT_TRUE(Connect(server.Get()));
  epoll_event event{};
  event.events = EPOLLIN;
  EXPECT_EQ(::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, handle_->Socket(), &event), 0)
      << "the descriptor is still in the set";
  EXPECT_EQ(::epoll_wait(epoll_fd_, &event, 1, 10'000), 1);
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, handle_->Socket(), nullptr);
}

// Symptom: bodies of uploads went to the connection that had got the number of the socket. When
// libcurl connects, at most once per second, it closes other sockets of the multi handle: those
// whose server has closed the connection, and in versions from 8.1 on those with unread bytes.
TEST_F(ConnectorTest, SocketsStayOpenWhileOthersConnect) {
  RawServer server([](RawConnection& connection) {
    if (connection.index() == 1) connection.Send("early");
    if (connection.index() != 0) connection.WaitForClose();
  });
  std::vector<std::unique_ptr<ConnectHandle>> first;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Connect(server.Get()));
    first.push_back(std::move(handle_));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
  while (std::chrono::steady_clock::now() < end) ASSERT_TRUE(Connect(server.Get()));
  for (const auto& handle : first) {
    pollfd socket{.fd = handle->Socket(), .events = POLLIN, .revents = 0};
    ASSERT_GE(socket.fd, 0);
    EXPECT_EQ(::poll(&socket, 1, 10'000), 1) << "not the socket of another connection";
  }
}

TEST_F(ConnectorTest, ATakenSocketOutlivesItsHandle) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("hello");
  });
  ASSERT_TRUE(Connect(server.Get()));
  ConnectedSocket socket(handle_->TakeSocket());
  handle_.reset();
  EXPECT_EQ(socket.Send(AsBytes("GET / HTTP/1.1\r\n\r\n"), {}).count, 18u);
  pollfd readable{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&readable, 1, 10'000), 1);
  std::array<std::byte, 8> memory;
  EXPECT_EQ(socket.Receive(memory).count, 5u);
}

TEST_F(ConnectorTest, ReportsWhyConnectingFailed) {
  Request request;
  request.endpoint = {"http", "127.0.0.1", UnusedPort()};
  EXPECT_FALSE(Connect(request));
  EXPECT_NE(handle_->ErrorOf(request).message.find("connection refused by 127.0.0.1:"),
            std::string::npos)
      << handle_->ErrorOf(request).message;
}

TEST_F(ConnectorTest, ConnectsForHttpOnly) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Request request = server.Get();
  request.endpoint.scheme = "ftp";
  EXPECT_FALSE(Connect(request));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ConnectorTest, AConnectTimeoutOfZeroIsNotInfinite) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Request request = server.Get();
  request.endpoint.scheme = "https";  // the server never responds to the TLS handshake
  request.connect_timeout = std::chrono::milliseconds(0);
  EXPECT_FALSE(Connect(request));
  EXPECT_EQ(handle_->ErrorOf(request).kind, ErrorKind::kTimeout);
}

// Symptom: the I/O thread waited for the resolver, beyond all timeouts.
TEST_F(ConnectorTest, ALookupThatHangsDoesNotDelayTheEndOfTheAttempt) {
  SlowLookup lookup;
  slow_lookup = &lookup;
  Request request;
  request.endpoint = {"http", std::string(kSlowHost), 80};
  request.connect_timeout = std::chrono::milliseconds(20);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(Connect(request));
  EXPECT_EQ(handle_->ErrorOf(request).kind, ErrorKind::kTimeout);
  handle_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  lookup.Release();
  lookup.AwaitEnd();
}

// Symptom: a server whose authority was only in the system's directory was accepted beside a bundle
// with another one.
TEST_F(ConnectorTest, ABundleReplacesTheSystemsAuthorities) {
  const ProxyVariable environment("no_proxy", "");
  const auto wait = [](TlsConnection& connection) { connection.raw().WaitForClose(); };
  TlsServer server(wait), other(wait);
  Request request = server.Get();
  std::string folder = ::testing::TempDir() + "penstock_ca_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::copy_file(request.ca_bundle_path, folder + "/" + server.hashed_name());
  request.ca_bundle_path.clear();
  EXPECT_FALSE(Connect(request));
  ASSERT_EQ(::setenv("SSL_CERT_DIR", folder.c_str(), 1), 0);
  EXPECT_TRUE(Connect(request));
  request.ca_bundle_path = other.Get().ca_bundle_path;
  EXPECT_FALSE(Connect(request));
  ASSERT_EQ(::unsetenv("SSL_CERT_DIR"), 0);
  std::filesystem::remove_all(folder);
}

// Symptom: each connection parsed the system's bundle for 18 ms.
TEST_F(ConnectorTest, ABundleIsParsedOnceForAllConnections) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server([](TlsConnection& connection) { connection.raw().WaitForClose(); });
  loaded_files = parsed_bundles = 0;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Connect(server.Get()));
  EXPECT_EQ(parsed_bundles, 1);
  EXPECT_EQ(loaded_files, 0) << "libcurl loads its default bundle, or the given one again";
}

TEST_F(ConnectorTest, OnlyTheLatestBundlesStayParsed) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server([](TlsConnection& connection) { connection.raw().WaitForClose(); });
  std::string folder = ::testing::TempDir() + "penstock_ca_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Request request = server.Get();
  const std::string certificate = request.ca_bundle_path;
  parsed_bundles = 0;
  for (const int number : {0, 1, 2, 3, 4, 5, 6, 7, 7, 0, 8, 8, 0}) {
    request.ca_bundle_path = folder + "/" + std::to_string(number);
    std::filesystem::copy_file(certificate, request.ca_bundle_path,
                               std::filesystem::copy_options::skip_existing);
    EXPECT_TRUE(Connect(request));
  }
  EXPECT_EQ(parsed_bundles, 10) << "of 9 bundles, the ninth replaced the first";
  std::filesystem::remove_all(folder);
}

TEST_F(ConnectorTest, AChangedDirectoryIsNoticed) {
  const ProxyVariable environment("no_proxy", "");
  const auto wait = [](TlsConnection& connection) { connection.raw().WaitForClose(); };
  TlsServer server(wait), other(wait);
  std::string folder = ::testing::TempDir() + "penstock_ca_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Request request = server.Get();
  const std::string certificate = request.ca_bundle_path;
  const std::string hashed = folder + "/" + server.hashed_name();
  request.ca_bundle_path = other.Get().ca_bundle_path;
  request.connect =
      std::make_shared<const ConnectSettings>(ConnectSettings{.ca_directory_path = folder});
  parsed_bundles = 0;
  EXPECT_FALSE(Connect(request));
  std::filesystem::copy_file(certificate, hashed);
  EXPECT_TRUE(Connect(request)) << "read although the store exists";
  EXPECT_EQ(parsed_bundles, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Connect(request));
  EXPECT_EQ(parsed_bundles, 2) << "once more because of the new file";
  std::ofstream(hashed) << "no certificate";
  EXPECT_FALSE(Connect(request)) << "the old certificate is still trusted";
  std::filesystem::remove_all(folder);
}

TEST_F(ConnectorTest, SslCertFileIsTheSystemsBundle) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server([](TlsConnection& connection) { connection.raw().WaitForClose(); });
  Request request = server.Get();
  ASSERT_EQ(::setenv("SSL_CERT_FILE", request.ca_bundle_path.c_str(), 1), 0);
  request.ca_bundle_path.clear();
  const bool accepted = Connect(request);
  ASSERT_EQ(::setenv("SSL_CERT_FILE", "/no/such.pem", 1), 0);
  EXPECT_FALSE(Connect(request));
  const Error error = handle_->ErrorOf(request);
  ASSERT_EQ(::unsetenv("SSL_CERT_FILE"), 0);
  EXPECT_TRUE(accepted);
  EXPECT_NE(error.message.find("'/no/such.pem'"), std::string::npos) << error.message;
}

std::string ProxyOn(const RawServer& server, const std::string& scheme = "http") {
  return scheme + "://user:hunter2@127.0.0.1:" + std::to_string(server.port());
}

// Symptom: libcurl read 307 KB byte by byte for 8.9 s, and other transfers of the thread waited.
TEST_F(ConnectorTest, ALongHeadOfAProxyEndsTheAttempt) {
  RawServer proxy([](RawConnection& connection) {
    connection.ReadHead();
    std::string head = "HTTP/1.1 200 Connected\r\n";
    while (head.size() < (300 << 10)) head += "x: y\r\n";
    connection.Send(head);
    connection.WaitForClose();
  });
  const ProxyVariable variable("https_proxy", ProxyOn(proxy));
  const Error error = RefusedTunnel();
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.message,
            "the proxy 127.0.0.1:" + std::to_string(proxy.port()) +
                " (https_proxy) on the way to s3.example:443 answered CONNECT with "
                "a head of more than 8192 bytes: check that https_proxy names an HTTP "
                "proxy");
}

TEST_F(ConnectorTest, ARefusalOfAProxyEndsTheAttemptBeforeItsBody) {
  RawServer proxy([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 407 Denied\r\nContent-Length: 1000000\r\n\r\n");
    connection.WaitForClose();
  });
  const ProxyVariable variable("https_proxy", ProxyOn(proxy));
  const Error error = RefusedTunnel();
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated) << "not retried: " << error.message;
  EXPECT_NE(error.message.find("refused the credentials in https_proxy (407)"), std::string::npos)
      << error.message;
  EXPECT_EQ(error.message.find("hunter2"), std::string::npos);
}

TEST_F(ConnectorTest, AHeadWithinTheLimitOpensTheTunnel) {
  std::promise<std::string> first_bytes;
  RawServer proxy([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 Connected\r\nx: " + std::string(8000, 'y') + "\r\n\r\n");
    first_bytes.set_value(connection.ReadBody(2));
  });
  const ProxyVariable variable("https_proxy", ProxyOn(proxy));
  EXPECT_FALSE(Connect(Tunnelled()));
  EXPECT_EQ(first_bytes.get_future().get(), "\x16\x03") << "a TLS handshake";
}

TEST_F(ConnectorTest, ASilentProxyIsNamed) {
  RawServer proxy([](RawConnection& connection) { connection.WaitForClose(); });
  const std::string name = "the proxy 127.0.0.1:" + std::to_string(proxy.port());
  for (const std::string scheme : {"http", "socks4a", "socks5h"}) {
    const ProxyVariable variable("all_proxy", ProxyOn(proxy, scheme));
    Request request = Tunnelled();
    request.connect_timeout = std::chrono::milliseconds(50);
    EXPECT_FALSE(Connect(request));
    const Error error = handle_->ErrorOf(request);
    EXPECT_EQ(error.kind, ErrorKind::kTimeout);
    EXPECT_TRUE(error.message.starts_with(
        name +
        " (all_proxy) on the way to s3.example:443 accepted the connection but did not answer"))
        << error.message;
  }
}

TEST_F(ConnectorTest, DestructionClosesTheConnection) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection) {
    connection.WaitForClose();
    closed.set_value();
  });
  ASSERT_TRUE(Connect(server.Get()));
  handle_.reset();
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST_F(ConnectorTest, SkipsAFailedAddressIfThereIsAnother) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Request request = server.Get();
  const int port = request.endpoint.port;
  request.endpoint.host = "two.test";
  const std::string both = "two.test:" + std::to_string(port) + ":127.0.0.2,127.0.0.1";
  connector_.emplace(epoll_fd_, std::vector<std::string>{both});
  const PeerAddress dead = PeerAddress::OfText("127.0.0.2", port);
  for (int i = 0; i < 8; ++i)
    AddressCircuitBreaker::PerProcess().OnFailure(dead, SystemClock().Monotonic());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Connect(request));
    EXPECT_EQ(handle_->tried(), std::vector<PeerAddress>{PeerAddress::OfText("127.0.0.1", port)});
  }
}

TEST_F(ConnectorTest, TriesAllAddressesIfAllFailed) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  const Request request = server.Get();
  const PeerAddress only = PeerAddress::OfText("127.0.0.1", request.endpoint.port);
  for (int i = 0; i < 8; ++i)
    AddressCircuitBreaker::PerProcess().OnFailure(only, SystemClock().Monotonic());
  EXPECT_FALSE(Connect(request));
  EXPECT_TRUE(handle_->skipped_all());
  EXPECT_TRUE(Connect(request, true));
  handle_->RecordResult();
  EXPECT_TRUE(Connect(request)) << "the server is up again";
}

TEST_F(ConnectorTest, RecordsWhichAddressFailed) {
  Request request;
  request.endpoint = {"http", "127.0.0.1", UnusedPort()};
  EXPECT_FALSE(Connect(request));
  handle_->RecordResult();
  EXPECT_TRUE(AddressCircuitBreaker::PerProcess().Avoids(
      PeerAddress::OfText("127.0.0.1", request.endpoint.port),
      SystemClock().Monotonic() - std::chrono::hours(1)));
}

TEST(ConnectorTag, DistinguishesDescriptorsFromPointers) {
  EXPECT_EQ(Connector::FromTag(Connector::Tag(0)), 0);
  EXPECT_EQ(Connector::FromTag(Connector::Tag(1'000'000)), 1'000'000);
  int aligned = 0;
  EXPECT_FALSE(Connector::FromTag(reinterpret_cast<std::uintptr_t>(&aligned)).has_value());
}

}  // namespace
}  // namespace penstock::http

template <class Function>
Function* NextOf(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// libcurl and the client find these functions instead of OpenSSL's and the C library's.
extern "C" __attribute__((visibility("default"))) int X509_STORE_load_file(X509_STORE* store,
                                                                           const char* path) {
  ++penstock::http::loaded_files;
  return NextOf(&X509_STORE_load_file, "X509_STORE_load_file")(store, path);
}

extern "C" __attribute__((visibility("default"))) STACK_OF(X509_INFO) *
    PEM_X509_INFO_read_bio(BIO* bio, STACK_OF(X509_INFO) * to, pem_password_cb* password,
                           void* data) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  // libcurl's own call has no certificate.
  if (std::string_view(text, static_cast<std::size_t>(size)).find("BEGIN CERTIFICATE") !=
      std::string_view::npos)
    ++penstock::http::parsed_bundles;
  return NextOf(&PEM_X509_INFO_read_bio, "PEM_X509_INFO_read_bio")(bio, to, password, data);
}

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node,
                                                                  const char* service,
                                                                  const addrinfo* hints,
                                                                  addrinfo** result) {
  if (node != nullptr && node == penstock::http::kSlowHost) {
    penstock::http::slow_lookup->Wait();
    return EAI_AGAIN;
  }
  return NextOf(&getaddrinfo, "getaddrinfo")(node, service, hints, result);
}
