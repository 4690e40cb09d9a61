// ConnectSettings: the proxy and the TLS identity of one client's requests.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/http/call_for_test.h"
#include "client/http/proxy_variable_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/connection_pool.h"
#include "client/http/reactor/http_transport.h"
#include "client/http/tls_server_for_test.h"

namespace penstock::http {
namespace {

std::string UrlOf(const RawServer& server, const std::string& credentials = {}) {
  return "http://" + credentials + "127.0.0.1:" + std::to_string(server.port());
}

Request With(Request request, ConnectSettings settings) {
  request.connect = std::make_shared<const ConnectSettings>(std::move(settings));
  return request;
}

class ConnectSettingsTest : public ::testing::Test {
 protected:
  Result<Outcome> Send(Request request) {
    Call call;
    return call.Start(*transport_, std::move(request)).Wait();
  }
  const std::shared_ptr<Transport> transport_ = MakeHttpTransport({.io_threads = 1});
};

TEST_F(ConnectSettingsTest, ProxyReceivesTheRequestWithItsCredentials) {
  const ProxyVariable environment("http_proxy", "http://127.0.0.1:1");
  std::string head;
  RawServer proxy([&](RawConnection& connection) {
    head = connection.ReadHead().value_or("");
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    connection.WaitForClose();
  });
  RawServer server(RawServer::Ok);
  const auto outcome = Send(With(server.Get("/path"), {.proxy_url = UrlOf(proxy, "user:pass@")}));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(head.find("GET " + UrlOf(server) + "/path HTTP/1.1"), 0u) << head;
  EXPECT_NE(head.find("Proxy-Authorization: Basic dXNlcjpwYXNz"), std::string::npos);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ConnectSettingsTest, EmptyUrlAndNoProxyOverrideTheEnvironment) {
  const ProxyVariable environment("http_proxy", "http://127.0.0.1:1");
  RawServer server(RawServer::Ok);
  EXPECT_FALSE(Send(server.Get()).ok());
  EXPECT_TRUE(Send(With(server.Get(), {.proxy_url = ""})).ok());
  EXPECT_TRUE(Send(With(server.Get(),
                        {.proxy_url = "http://127.0.0.1:1", .no_proxy = "example.com,127.0.0.0/8"}))
                  .ok());
}

TEST_F(ConnectSettingsTest, ErrorsNameTheSettingAndHideThePassword) {
  const ProxyVariable environment("no_proxy", "");
  RawServer server(RawServer::Ok);
  const auto refused = Send(With(server.Get(), {.proxy_url = "http://user:hunter2@127.0.0.1:" +
                                                             std::to_string(UnusedPort())}));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("ClientConfig::proxy"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
  const auto invalid = Send(With(server.Get(), {.proxy_url = "gopher://user:hunter2@host:1"}));
  ASSERT_FALSE(invalid.ok());
  EXPECT_EQ(invalid.error().kind, ErrorKind::kInvalidArgument) << invalid.error().message;
  EXPECT_EQ(invalid.error().message.find("hunter2"), std::string::npos);
}

TEST_F(ConnectSettingsTest, ProxyWithControlCharactersIsNotBypassed) {
  const ProxyVariable environment("http_proxy", "");
  RawServer server(RawServer::Ok);
  // Symptom: libcurl connected to the server, which received the password of the proxy.
  for (const std::string credentials : {"user:hunter%01@", "us%0aer:hunter2@", "user:%00@"}) {
    const std::string url = "http://" + credentials + "127.0.0.1:1";
    environment.Set(url);
    for (const Request& request : {With(server.Get(), {.proxy_url = url}), server.Get()}) {
      const auto refused = Send(request);
      ASSERT_FALSE(refused.ok()) << url;
      EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument) << refused.error().message;
      EXPECT_EQ(refused.error().message.find("hunter"), std::string::npos);
    }
  }
  EXPECT_EQ(server.connections(), 0);
}

void RespondOk(TlsConnection& connection) {
  while (connection.ReadHead()) connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

// The next request needs a new connection.
void RespondAndClose(TlsConnection& connection) {
  if (connection.ReadHead())
    connection.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
}

TEST_F(ConnectSettingsTest, ClientCertificateIsShown) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server(RespondOk, TlsServer::ClientCertificate::kRequired);
  const Request plain = server.Get();
  EXPECT_FALSE(Send(plain).ok());
  const auto shown = Send(With(plain, {.client_certificate_path = plain.ca_bundle_path,
                                       .client_key_path = server.key_path()}));
  EXPECT_TRUE(shown.ok()) << shown.error().message;
  const auto missing = Send(With(plain, {.client_certificate_path = "/none/cert.pem"}));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kInvalidArgument) << missing.error().message;
  EXPECT_NE(missing.error().message.find("/none/cert.pem"), std::string::npos);
}

TEST_F(ConnectSettingsTest, AReplacedCaBundleIsNoticed) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer first(RespondOk), second(RespondOk);
  const std::string bundle = ::testing::TempDir() + "penstock_replaced.pem";
  const auto send = [&](const TlsServer& server) {
    Request request = server.Get();
    request.ca_bundle_path = bundle;
    request.headers.push_back({"Connection", "close"});
    return Send(request);
  };
  const auto use = [&](const TlsServer& server) {
    std::filesystem::copy_file(server.Get().ca_bundle_path, bundle,
                               std::filesystem::copy_options::overwrite_existing);
  };
  use(first);
  EXPECT_TRUE(send(first).ok());
  EXPECT_FALSE(send(second).ok());
  use(second);
  EXPECT_TRUE(send(second).ok());
  std::filesystem::remove(bundle);
}

// Symptom: a resumed session was not verified with the new bundle.
TEST_F(ConnectSettingsTest, SessionsAreResumedUntilTheBundleChanges) {
  const ProxyVariable environment("no_proxy", "");
  std::atomic<int> resumed{0};
  TlsServer server([&](TlsConnection& connection) {
    if (connection.resumed()) ++resumed;
    RespondAndClose(connection);
  });
  TlsServer other(RespondAndClose);
  Request request = server.Get();
  const std::string own = request.ca_bundle_path;
  request.ca_bundle_path = ::testing::TempDir() + "penstock_sessions.pem";
  const auto use = [&](const std::string& bundle) {
    std::filesystem::copy_file(bundle, request.ca_bundle_path,
                               std::filesystem::copy_options::overwrite_existing);
  };
  use(own);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Send(request).ok());
  use(own);
  EXPECT_TRUE(Send(request).ok());
  EXPECT_EQ(resumed, 3) << "all but the first, also with a copy of the bundle";
  use(other.Get().ca_bundle_path);
  const auto refused = Send(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthenticated) << refused.error().message;
  use(own);
  EXPECT_TRUE(Send(request).ok());
  EXPECT_EQ(resumed, 3);
  std::filesystem::remove(request.ca_bundle_path);
}

TEST_F(ConnectSettingsTest, ABundleThatBecomesUnusableIsNamed) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server(RespondAndClose);
  Request request = server.Get();
  const std::string own = request.ca_bundle_path;
  request.ca_bundle_path = ::testing::TempDir() + "penstock_unusable.pem";
  const std::array<std::function<void()>, 3> damages{
      [&] { std::filesystem::remove(request.ca_bundle_path); },
      [&] { std::ofstream(request.ca_bundle_path) << ""; },
      [&] { std::ofstream(request.ca_bundle_path) << "garbage"; }};
  for (const auto& damage : damages) {
    std::filesystem::copy_file(own, request.ca_bundle_path,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_TRUE(Send(request).ok()) << "also after an error";
    damage();
    const auto refused = Send(request);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument) << refused.error().message;
    EXPECT_EQ(refused.error().setting, "ca_bundle_path");
    EXPECT_NE(refused.error().message.find("'" + request.ca_bundle_path + "'"), std::string::npos)
        << refused.error().message;
  }
  std::filesystem::remove(request.ca_bundle_path);
}

// Each thread has its own parsed certificates: also a check for ThreadSanitizer.
TEST_F(ConnectSettingsTest, SeveralThreadsConnectWithABundleThatIsReplaced) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server(RespondAndClose);
  const std::shared_ptr<Transport> transport = MakeHttpTransport({.io_threads = 4});
  Request request = server.Get();
  const std::string own = request.ca_bundle_path;
  request.ca_bundle_path = ::testing::TempDir() + "penstock_threads.pem";
  for (int round = 0; round < 3; ++round) {
    const std::string next = request.ca_bundle_path + ".next";
    std::filesystem::copy_file(own, next);
    std::ofstream(next, std::ios::app) << "# " << round << "\n";
    std::filesystem::rename(next, request.ca_bundle_path);
    std::vector<Call> calls(16);
    for (Call& call : calls) call.Start(*transport, request);
    for (Call& call : calls) EXPECT_TRUE(call.Wait().ok());
  }
  EXPECT_EQ(server.connections(), 48);
  std::filesystem::remove(request.ca_bundle_path);
}

TEST_F(ConnectSettingsTest, PlainRequestsNeedNoBundle) {
  RawServer server(RawServer::Ok), proxy(RawServer::Ok);
  Request request = server.Get();
  request.ca_bundle_path = "/no/such.pem";
  for (const std::string& url : {std::string(), UrlOf(proxy)}) {
    const auto sent = Send(With(request, {.proxy_url = url}));
    EXPECT_TRUE(sent.ok()) << sent.error().message;
  }
}

TEST_F(ConnectSettingsTest, TheBundleVerifiesAnHttpsProxyToo) {
  TlsServer proxy(RespondAndClose), other(RespondAndClose);
  RawServer server(RawServer::Ok);
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  Request request = With(server.Get(), {.proxy_url = "https://" + address});
  request.ca_bundle_path = ::testing::TempDir() + "penstock_proxy.pem";
  const auto use = [&](const TlsServer& authority) {
    std::filesystem::copy_file(authority.Get().ca_bundle_path, request.ca_bundle_path,
                               std::filesystem::copy_options::overwrite_existing);
  };
  use(proxy);
  const auto sent = Send(request);
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(server.connections(), 0);
  use(other);
  const auto refused = Send(request);
  std::filesystem::remove(request.ca_bundle_path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthenticated) << refused.error().message;
  EXPECT_TRUE(refused.error().message.starts_with("TLS certificate of the proxy " + address))
      << refused.error().message;
}

TEST_F(ConnectSettingsTest, EncryptedKeyNeedsItsPasswordAndDoesNotAskForIt) {
  const ProxyVariable environment("no_proxy", "");
  TlsServer server(RespondOk, TlsServer::ClientCertificate::kRequired);
  const Request plain = server.Get();
  const auto with = [&](const std::string& password) {
    return Send(With(plain, {.client_certificate_path = plain.ca_bundle_path,
                             .client_key_path = server.encrypted_key_path(),
                             .client_key_password = password}));
  };
  EXPECT_TRUE(with(std::string(TlsServer::kKeyPassword)).ok());
  EXPECT_FALSE(with("other").ok());
  const auto without = with("");
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().kind, ErrorKind::kInvalidArgument) << without.error().message;
}

TEST(PeerOfTest, DifferentSettingsUseDifferentConnections) {
  Request request;
  request.endpoint = {"https", "s3.example", 443};
  const std::string plain = PeerOf(request);
  const auto with = [&](ConnectSettings settings) { return PeerOf(With(request, settings)); };
  const std::string first = with({.client_certificate_path = "a"});
  EXPECT_NE(first, plain);
  EXPECT_NE(first, with({.client_certificate_path = "b"}));
  EXPECT_NE(first, with({.ca_directory_path = "a"}));
  EXPECT_EQ(first, with({.client_certificate_path = "a"}));
}

}  // namespace
}  // namespace penstock::http
