#include "client/http/reactor/exchange_runner.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "client/http/body_for_test.h"
#include "client/http/connect/curl_global.h"
#include "client/http/proxy_variable_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/tls_server_for_test.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Runs the runner on the test's thread.
class ExchangeRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitCurl());
    Create(8);
  }
  void Create(std::size_t max_connections) {
    runner_ = ExchangeRunner::Create(options_, max_connections,
                                     [this](const TransferPtr& transfer, Result<Outcome> outcome) {
                                       EXPECT_EQ(transfer->connection, nullptr);
                                       outcomes_.emplace(transfer.get(), std::move(outcome));
                                     });
    ASSERT_NE(runner_, nullptr);
  }
  TransferPtr Make(Request request, RequestBody* body = nullptr) {
    auto transfer = std::make_shared<Transfer>();
    transfer->request = std::move(request);
    transfer->request_body = body;
    transfer->response_body = &sink_;
    transfer->started = SystemClock().Monotonic();
    return transfer;
  }
  void WorkUntil(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < limit) {
      runner_->Wait(runner_->NextTimer() == MonotonicTime() ? 0 : 5);
      runner_->Work();
    }
    EXPECT_TRUE(condition());
  }
  Result<Outcome> Run(const TransferPtr& transfer) {
    begun_.push_back(transfer);  // kept alive, so that no other transfer gets its address
    runner_->Begin(transfer);
    WorkUntil([&] { return outcomes_.contains(transfer.get()); });
    return outcomes_.at(transfer.get());
  }

  HttpTransportOptions options_{.expect_continue_from_bytes = 5,
                                .expect_continue_timeout = std::chrono::milliseconds(20)};
  Collector sink_;
  std::vector<TransferPtr> begun_;
  std::map<Transfer*, Result<Outcome>> outcomes_;
  std::unique_ptr<ExchangeRunner> runner_;
};

TEST_F(ExchangeRunnerTest, SecondRequestReusesTheConnection) {
  RawServer server(RawServer::Ok);
  const Result<Outcome> first = Run(Make(server.Get()));
  const Result<Outcome> second = Run(Make(server.Get()));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(first->connection_reused);
  EXPECT_TRUE(second->connection_reused);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ExchangeRunnerTest, DoesNotUseAnIdleConnectionThatThePeerClosed) {
  std::promise<void> close;
  const std::shared_future<void> closing = close.get_future().share();
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send(kOk);
    if (connection.index() == 0) closing.wait();
  });
  ASSERT_TRUE(Run(Make(server.Get())).ok());
  close.set_value();
  const Result<Outcome> second = Run(Make(server.Get()));
  // Detected while idle, or repeated, because a read may be repeated.
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_FALSE(second->connection_reused);
  EXPECT_EQ(server.connections(), 2);
}

// Symptom: with more than 64 connections, responses that nobody had requested were taken for those
// to the next requests. One epoll_wait reports at most 64 of these connections.
TEST_F(ExchangeRunnerTest, BytesOnManyIdleConnectionsAreNotResponses) {
  constexpr int kConnections = 80;
  Create(2 * kConnections);
  std::latch received(kConnections), sent(kConnections);
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    if (connection.index() >= kConnections) {
      connection.Send(kOk);
      return connection.WaitForClose();
    }
    received.arrive_and_wait();  // so that each request has a connection of its own
    connection.Send(kOk);
    answered.wait();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    sent.count_down();
    connection.WaitForClose();
  });
  const auto begin_all = [&] {
    for (int i = 0; i < kConnections; ++i) {
      begun_.push_back(Make(server.Get()));
      runner_->Begin(begun_.back());
    }
    WorkUntil([&] { return outcomes_.size() == begun_.size(); });
  };
  begin_all();
  answer.set_value();
  sent.wait();
  runner_->DropIdleWithInput();
  begin_all();
  EXPECT_EQ(sink_.text.find("evil"), std::string::npos);
  EXPECT_EQ(server.connections(), 2 * kConnections);
}

TEST_F(ExchangeRunnerTest, RepeatsWithoutExpectAfter417) {
  std::vector<std::string> heads;
  std::string body_there;
  RawServer server([&](RawConnection& connection) {
    heads.push_back(connection.ReadHead().value_or(""));
    if (connection.index() == 0) {
      connection.Send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    body_there = connection.ReadBody(5);
    connection.Send(kOk);
  });
  TextBody body("hello");
  Request request = server.Get();
  request.method = "PUT";
  const Result<Outcome> result = Run(Make(request, &body));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->head.status, 200);
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_NE(heads[0].find("Expect: 100-continue"), std::string::npos);
  EXPECT_EQ(heads[1].find("Expect"), std::string::npos);
  EXPECT_EQ(body_there, "hello");
  EXPECT_EQ(sink_.heads.size(), 1u);
}

TEST_F(ExchangeRunnerTest, SendsTheBodyAfterTheExpectTimeout) {
  std::string body_there;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    body_there = connection.ReadBody(5);
    connection.Send(kOk);
  });
  TextBody body("hello");
  Request request = server.Get();
  request.method = "PUT";
  ASSERT_TRUE(Run(Make(request, &body)).ok());
  EXPECT_EQ(body_there, "hello");
}

TEST_F(ExchangeRunnerTest, AbandonClosesTheConnectionWithoutAResult) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.WaitForClose();
    closed.set_value();
  });
  const TransferPtr transfer = Make(server.Get());
  runner_->Begin(transfer);
  WorkUntil([&] { return server.connections() == 1; });
  runner_->Abandon(*transfer);
  runner_->Work();
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_EQ(transfer->connection, nullptr);
}

TEST_F(ExchangeRunnerTest, TimerReadsBytesBelowTheLowWaterMark) {
  constexpr std::size_t kBody = 4 << 20;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n" +
                    std::string(1000, 'x'));
    connection.WaitForClose();
  });
  const TransferPtr transfer = Make(server.Get());
  runner_->Begin(transfer);
  WorkUntil([&] { return transfer->begun; });
  while (transfer->received < 1000) runner_->CheckTimer(transfer, SystemClock().Monotonic());
  EXPECT_EQ(transfer->received, 1000u);
  runner_->Abandon(*transfer);
}

TEST_F(ExchangeRunnerTest, WakeFromAnotherThreadEndsWait) {
  std::thread waker([&] { runner_->Wake(); });
  runner_->Wait(30'000);
  runner_->Work();
  waker.join();
  EXPECT_EQ(runner_->NextTimer(), MonotonicTime::max());
}

Request GetOf(const std::string& host, int port) {
  Request request;
  request.method = "GET";
  request.endpoint = {"http", host, port};
  request.target = "/bucket/key?x=1";
  request.headers = {{"Host", HostHeader(request.endpoint)}};
  return request;
}

TEST_F(ExchangeRunnerTest, AProxyForwardsPlainRequestsWithAbsoluteTargets) {
  std::vector<std::string> heads;
  RawServer proxy([&](RawConnection& connection) {
    while (const auto head = connection.ReadHead()) {
      heads.push_back(*head);
      connection.Send(kOk);
    }
  });
  const ProxyVariable variable("http_proxy",
                               "http://us%40er:pa:ss@127.0.0.1:" + std::to_string(proxy.port()));
  const Result<Outcome> first = Run(Make(GetOf("s3.example", 9000)));
  const Result<Outcome> second = Run(Make(GetOf("s3.example", 9000)));
  const Result<Outcome> default_port = Run(Make(GetOf("s3.example", 80)));
  ASSERT_TRUE(first.ok() && second.ok() && default_port.ok());
  EXPECT_TRUE(second->connection_reused);
  ASSERT_EQ(heads.size(), 3U);
  for (const std::string& head : {heads[0], heads[1]}) {
    EXPECT_TRUE(head.starts_with("GET http://s3.example:9000/bucket/key?x=1 HTTP/1.1\r\n")) << head;
    EXPECT_NE(head.find("\r\nHost: s3.example:9000\r\n"), std::string::npos) << head;
    // base64 of "us@er:pa:ss"
    EXPECT_NE(head.find("\r\nProxy-Authorization: Basic dXNAZXI6cGE6c3M=\r\n"), std::string::npos)
        << head;
  }
  EXPECT_TRUE(heads[2].starts_with("GET http://s3.example/bucket/key?x=1 HTTP/1.1\r\n"))
      << heads[2];
}

TEST_F(ExchangeRunnerTest, AProxyGetsTheBodyOfAnUpload) {
  std::string received;
  RawServer proxy([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
    received = connection.ReadBody(5);
    connection.Send(kOk);
  });
  const ProxyVariable variable("http_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
  TextBody body("hello");
  Request request = GetOf("s3.example", 9000);
  request.method = "PUT";
  const Result<Outcome> result = Run(Make(request, &body));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(received, "hello");
}

// Responds as a SOCKS5 proxy that has connected to s3.example.
void AcceptSocks(RawConnection& connection) {
  const std::string version_and_methods = connection.ReadBody(2);
  ASSERT_EQ(version_and_methods.size(), 2U);
  connection.ReadBody(static_cast<std::size_t>(version_and_methods[1]));
  connection.Send(std::string_view("\5\0", 2));  // no authentication
  connection.ReadBody(4 + 1 + std::string_view("s3.example").size() + 2);
  connection.Send(std::string_view("\5\0\0\1\0\0\0\0\0\0", 10));
}

TEST_F(ExchangeRunnerTest, ASocksProxyRelaysRequestsUnchanged) {
  std::string head;
  RawServer proxy([&](RawConnection& connection) {
    AcceptSocks(connection);
    head = connection.ReadHead().value_or("");
    connection.Send(kOk);
  });
  const ProxyVariable variable("http_proxy", "socks5h://127.0.0.1:" + std::to_string(proxy.port()));
  const Result<Outcome> result = Run(Make(GetOf("s3.example", 9000)));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(head.starts_with("GET /bucket/key?x=1 HTTP/1.1\r\n")) << head;
  EXPECT_EQ(head.find("Proxy-"), std::string::npos);
}

TEST_F(ExchangeRunnerTest, AChangedSocksProxyIsUsedAlthoughConnectionsThroughTheOldOneAreOpen) {
  const auto relay = [](RawConnection& connection) {
    AcceptSocks(connection);
    RawServer::Ok(connection);
  };
  RawServer before(relay);
  RawServer after(relay);
  const ProxyVariable variable("http_proxy",
                               "socks5h://127.0.0.1:" + std::to_string(before.port()));
  ASSERT_TRUE(Run(Make(GetOf("s3.example", 9000))).ok());
  variable.Set("socks5h://127.0.0.1:" + std::to_string(after.port()));
  const Result<Outcome> second = Run(Make(GetOf("s3.example", 9000)));
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_FALSE(second->connection_reused);
  EXPECT_EQ(after.connections(), 1);
}

TEST_F(ExchangeRunnerTest, AChangedProxyIsUsedAlthoughTunnelsThroughTheOldOneAreOpen) {
  TlsServer server([](TlsConnection& connection) {
    while (connection.ReadHead()) connection.Send(kOk);
  });
  const auto tunnel = [&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 Connected\r\nVia: 1.1 test\r\n\r\n");
    connection.RelayTo(server.port());
  };
  RawServer before(tunnel);
  RawServer after(tunnel);
  const ProxyVariable variable("https_proxy", "http://127.0.0.1:" + std::to_string(before.port()));
  const Result<Outcome> first = Run(Make(server.Get()));
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  const Result<Outcome> same = Run(Make(server.Get()));
  variable.Set("http://127.0.0.1:" + std::to_string(after.port()));
  const Result<Outcome> other = Run(Make(server.Get()));
  ASSERT_TRUE(same.ok() && other.ok());
  EXPECT_TRUE(same->connection_reused);
  EXPECT_FALSE(other->connection_reused);
  EXPECT_EQ(before.connections(), 1);
  EXPECT_EQ(after.connections(), 1);
}

TEST_F(ExchangeRunnerTest, AProxyThatRefusesCredentialsIsAnErrorThatNamesIt) {
  RawServer proxy([](RawConnection& connection) {
    while (connection.ReadHead())
      connection.Send("HTTP/1.1 407 Denied\r\nContent-Length: 2\r\n\r\nno");
  });
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  const ProxyVariable variable("http_proxy", "http://user:hunter2@" + address);
  const Result<Outcome> result = Run(Make(GetOf("s3.example", 9000)));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_TRUE(result.error().message.starts_with("the proxy " + address +
                                                 " (http_proxy) on the way "
                                                 "to s3.example:9000 refused the credentials"))
      << result.error().message;
  EXPECT_EQ(result.error().message.find("hunter2"), std::string::npos);
}

TEST_F(ExchangeRunnerTest, NoProxyExcludesAHost) {
  RawServer server(RawServer::Ok);
  const ProxyVariable variable("http_proxy", "http://127.0.0.1:" + std::to_string(UnusedPort()));
  ASSERT_EQ(::setenv("no_proxy", "127.0.0.0/8", 1), 0);
  const Result<Outcome> result = Run(Make(server.Get()));
  ASSERT_EQ(::unsetenv("no_proxy"), 0);
  EXPECT_TRUE(result.ok()) << result.error().ToString();
}

// Regression test for a crash under load. A connection with more work was handled by a socket event
// first, and ended there. It was then handled again from the list, found the closed peer, and ended
// a second time. Here the whole response and the close are in the socket. The first Work takes two
// turns (event and list). The third turn is the event of the next Work, before its list.
TEST_F(ExchangeRunnerTest, DoesNotContinueAConnectionThatEndedInAnEvent) {
  options_.turn_bytes = 16 << 10;
  const std::string body(40 << 10, 'b');
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body);
  });
  const TransferPtr transfer = Make(server.Get());
  begun_.push_back(transfer);
  runner_->Begin(transfer);
  WorkUntil(
      [&] { return transfer->connection != nullptr && transfer->connection->socket.has_value(); });
  pollfd closed{transfer->connection->socket->fd(), POLLRDHUP, 0};
  ASSERT_EQ(::poll(&closed, 1, 30'000), 1);
  int rounds = 0;
  while (outcomes_.empty() && rounds < 100) {
    runner_->Wait(0);
    runner_->Work();
    ++rounds;
  }
  ASSERT_TRUE(outcomes_.contains(transfer.get()));
  EXPECT_TRUE(outcomes_.at(transfer.get()).ok());
  EXPECT_EQ(sink_.text, body);
  EXPECT_EQ(rounds, 2);
  runner_->Work();  // the connection no longer exists
  EXPECT_NE(runner_->NextTimer(), MonotonicTime());
}

}  // namespace
}  // namespace penstock::http
