#include "emulator/http/server.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fake_clock.h"
#include "emulator/http/test_support.h"
#include "emulator/message/text_stream.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::size_t kLargeBytes = 64 << 20;

TEST(Server, RefusesInvalidOptions) {
  FunctionHandler handler([](message::Exchange&) {});
  const auto kind_of = [&](auto change) {
    ServerOptions options;
    change(options);
    const auto server = Server::Start(options, handler);
    return server.ok() ? ErrorKind::kInternal : server.error().kind;
  };
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.port = 65'536; }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.tls_key_path = "key.pem"; }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(
      kind_of([](ServerOptions& o) { o.tls_key_path = o.tls_certificate_path = "/nonexistent"; }),
      ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.min_threads = -1; }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.max_threads = 0; }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.max_head_bytes = 10; }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([](ServerOptions& o) { o.idle_timeout = std::chrono::milliseconds(0); }),
            ErrorKind::kInvalidArgument);
}

TEST(Server, RefusesATakenPort) {
  FunctionHandler handler([](message::Exchange&) {});
  const auto first = StartServer(handler);
  ServerOptions options;
  options.port = first->port();
  const auto second = Server::Start(options, handler);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
}

TEST(Server, DateHeaderUsesTheServersClock) {
  FakeClock clock(WallTime{std::chrono::seconds(1369353600)});
  FunctionHandler handler([](message::Exchange&) {});
  ServerOptions options;
  options.clock = &clock;
  const auto server = StartServer(handler, options);
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).Find("Date"),
            "Fri, 24 May 2013 00:00:00 GMT");
}

class TimedExchange final : public message::Exchange {
 public:
  using message::Exchange::Exchange;
  std::optional<WallTime> Now() const override {
    return WallTime{std::chrono::seconds(1369353600)};
  }
};

class TimedHandler final : public message::Handler {
 public:
  std::unique_ptr<message::Exchange> NewExchange(message::RequestHead& request,
                                                 message::Connection& connection) override {
    return std::make_unique<TimedExchange>(request, connection);
  }
  void Handle(message::Exchange&) override {}
};

TEST(Server, DateHeaderUsesTheTimeOfTheExchange) {
  TimedHandler handler;
  const auto server = StartServer(handler, {});
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).Find("Date"),
            "Fri, 24 May 2013 00:00:00 GMT");
}

TEST(Server, MovesLargeBodiesBothWays) {
  const std::string text = PatternText(kLargeBytes);
  const auto memory = std::make_shared<MemoryBlob>(text);
  const auto file = std::make_shared<FileBlob>(text);
  FunctionHandler handler([&](message::Exchange& exchange) {
    if (exchange.request.method == "PUT") {
      RespondWith(exchange, ReadBody(*exchange.body, 1 << 20) == text ? "same" : "different");
    } else {
      exchange.response.body =
          ContentOf(exchange.request.target == "/file" ? BlobPtr(file) : BlobPtr(memory));
    }
  });
  const auto server = StartServer(handler);
  TestClient client(server->port());
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(text.size()) +
              "\r\n\r\n");
  EXPECT_EQ(client.SendRequest(text).body, "same");
  EXPECT_TRUE(client.SendRequest("GET /memory HTTP/1.1\r\nHost: h\r\n\r\n").body == text);
  EXPECT_TRUE(client.SendRequest("GET /file HTTP/1.1\r\nHost: h\r\n\r\n").body == text);
}

TEST(Server, ForkedChildDoesNotDisturbTheServer) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  auto server = StartServer(handler);
  TestClient client(server->port());
  ASSERT_EQ(client.SendRequest(kGet).status, 200);
  const pid_t child = ::fork();
  if (child == 0) {
    server->Stop(std::chrono::milliseconds(0));
    server.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(client.SendRequest(kGet).status, 200);
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
}

TEST(Server, ClosesConnectionsThatAForkedChildHolds) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  const auto server = StartServer(handler);
  TestClient kept(server->port());
  ASSERT_EQ(kept.SendRequest(kGet).status, 200);
  int hold[2];
  ASSERT_EQ(::pipe(hold), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // holds copies of every descriptor until the parent closes the pipe
    ::close(hold[1]);
    char byte;
    [[maybe_unused]] const ssize_t got = ::read(hold[0], &byte, 1);
    ::_exit(0);
  }
  ::close(hold[0]);
  const TestResponse response =
      kept.SendRequest("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(kept.EndsOrderly());
  // A stale event of the old socket must not disturb later connections.
  for (int i = 0; i < 50; ++i) ASSERT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  server->Stop(std::chrono::milliseconds(0));
  EXPECT_FALSE(TestClient(server->port()).connected());
  ::close(hold[1]);
  ::waitpid(child, nullptr, 0);
}

TEST(Server, MayBeStoppedTwiceAndDestroyed) {
  FunctionHandler handler([](message::Exchange&) {});
  auto server = StartServer(handler);
  std::jthread other([&] { server->Stop(std::chrono::milliseconds(10)); });
  server->Stop(std::chrono::milliseconds(10));
  other.join();
  server.reset();
  SUCCEED();
}

class AcceptDecisionTest : public testing::Test {
 protected:
  void Start(AcceptDecision decision) {
    ServerOptions options;
    options.on_accept = [this, decision](const Arrival& arrival) {
      seen_ = arrival;
      return decision;
    };
    server_ = StartServer(handler_, options);
    ASSERT_NE(server_, nullptr);
  }
  TestClient Connect() const { return TestClient(server_->port()); }

  FunctionHandler handler_{[](message::Exchange& exchange) { RespondWith(exchange, "ok"); }};
  Arrival seen_;
  std::unique_ptr<Server> server_;
};

constexpr std::string_view kAcceptTestGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

TEST_F(AcceptDecisionTest, ServesConnectionsAndReportsTheirArrival) {
  Start({});
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kAcceptTestGet).body, "ok");
  EXPECT_EQ(seen_.id, 1U);
  EXPECT_TRUE(seen_.peer.starts_with("127.0.0.1:")) << seen_.peer;
  EXPECT_FALSE(seen_.tls);
  EXPECT_EQ(seen_.others, 0U);
  TestClient second = Connect();
  EXPECT_EQ(second.SendRequest(kAcceptTestGet).body, "ok");
  EXPECT_EQ(seen_.others, 1U);
}

TEST_F(AcceptDecisionTest, MayResetAConnectionAtOnce) {
  Start({.kind = AcceptDecision::Kind::kReset});
  TestClient client = Connect();
  int error = 0;
  EXPECT_EQ(client.ReadToEnd(&error), "");
  EXPECT_EQ(error, ECONNRESET);
}

TEST_F(AcceptDecisionTest, MayCloseAConnectionWithFin) {
  Start({.kind = AcceptDecision::Kind::kFin});
  TestClient client = Connect();
  client.Send(kAcceptTestGet);
  EXPECT_TRUE(client.EndsOrderly());
}

struct RefusalCase {
  const char* name;
  TlsRefusal refusal;
  std::string bytes;
};

class TlsRefusalTest : public AcceptDecisionTest,
                       public testing::WithParamInterface<RefusalCase> {};

TEST_P(TlsRefusalTest, IsSentInsteadOfAHandshake) {
  Start({.kind = AcceptDecision::Kind::kRefuseTls, .refusal = GetParam().refusal});
  TestClient client = Connect();
  int error = -1;
  EXPECT_EQ(client.ReadToEnd(&error), GetParam().bytes);
  EXPECT_EQ(error, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, TlsRefusalTest,
    testing::Values(RefusalCase{"HandshakeFailure", TlsRefusal::kHandshakeFailure,
                                std::string("\x15\x03\x03\x00\x02\x02\x28", 7)},
                    RefusalCase{"ProtocolVersion", TlsRefusal::kProtocolVersion,
                                std::string("\x15\x03\x03\x00\x02\x02\x46", 7)},
                    RefusalCase{"NoApplicationProtocol", TlsRefusal::kNoApplicationProtocol,
                                std::string("\x15\x03\x03\x00\x02\x02\x78", 7)},
                    RefusalCase{"Truncated", TlsRefusal::kTruncated,
                                std::string("\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03", 11)}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(AcceptDecisionTest, MayLimitTheRequestsOfAConnection) {
  Start({.max_requests = 2});
  TestClient client = Connect();
  EXPECT_FALSE(client.SendRequest(kAcceptTestGet).Find("Connection"));
  EXPECT_EQ(client.SendRequest(kAcceptTestGet).Find("Connection"), "close");
  EXPECT_TRUE(client.EndsOrderly());
}

// Lowers the process's limit of descriptors while it lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{.rlim_cur = count, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Server, ConnectionsLeaveDescriptorsForOtherUses) {
  constexpr int kAll = 400;
  constexpr int kKeptBack = kAll / 4;
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "hello"); });
  const FewDescriptors few(kAll);
  const auto server = StartServer(handler);
  std::vector<std::unique_ptr<TestClient>> served;
  for (;;) {
    auto client = std::make_unique<TestClient>(server->port());
    ASSERT_TRUE(client->connected()) << served.size();
    if (client->SendRequest(kGet).status != 200) break;
    served.push_back(std::move(client));
    ASSERT_LT(served.size(), static_cast<std::size_t>(kAll));
  }
  EXPECT_LT(served.back()->fd(), kAll - kKeptBack + 3)
      << "a client's descriptor number is close to that of its connection";
  std::vector<std::unique_ptr<Pipe>> others;
  for (int i = 0; i < kKeptBack / 2 - 5; ++i)
    ASSERT_NE(others.emplace_back(std::make_unique<Pipe>())->stream->fd(), -1) << i;
  EXPECT_EQ(served.front()->SendRequest(kGet).body, "hello");
  others.clear();
  served.resize(served.size() / 2);
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (status != 200 && std::chrono::steady_clock::now() < end)
    status = TestClient(server->port()).SendRequest(kGet).status;
  EXPECT_EQ(status, 200) << "descriptors are free again";
}

TEST(Server, TheFirstConnectionAfterAFloodIsServed) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "hello"); });
  const FewDescriptors few(200);
  const auto server = StartServer(handler);
  // Repeated because the server may begin to wait only when descriptors are free again.
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Pipe>> others;
    for (int fd = 0; fd < 180; fd = others.back()->stream->fd()) {
      ASSERT_NE(fd, -1);
      others.push_back(std::make_unique<Pipe>());
    }
    std::vector<TestClient> last;
    do {
      last.emplace_back(server->port());
    } while (last.back().SendRequest(kGet).status == 200);
    last.clear();
    others.clear();
    EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200) << round;
  }
}

// Never ends by itself. Counts how many exist.
class Endless final : public message::TextStream {
 public:
  explicit Endless(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Endless() override { --alive_; }
  std::optional<std::string> Next() noexcept override { return "tick\n"; }
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(20); }

 private:
  std::atomic<int>& alive_;
};

class StreamServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.min_threads = options.max_threads = 1;
    server_ = StartServer(handler_, options);
    ASSERT_NE(server_, nullptr);
  }
  void AwaitStreams(int count) {
    const auto end = std::chrono::steady_clock::now() + kTestTimeout;
    while (alive_ != count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ASSERT_EQ(alive_, count);
  }
  std::atomic<int> alive_{0};
  FunctionHandler handler_{[this](message::Exchange& exchange) {
    if (exchange.request.target == "/stream")
      exchange.response.stream = std::make_unique<Endless>(alive_);
    else exchange.response.body = std::string("plain");
  }};
  std::unique_ptr<Server> server_;
};

constexpr std::string_view kStreamRequest = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

TEST_F(StreamServerTest, StreamsOccupyNoThreadAndEndWithTheirClient) {
  {
    TestClient first(server_->port());
    TestClient second(server_->port());
    for (TestClient* const client : {&first, &second}) {
      client->Send(kStreamRequest);
      EXPECT_EQ(client->Read(true).Find("transfer-encoding"), "chunked");
    }
    AwaitStreams(2);
    TestClient other(server_->port());
    EXPECT_EQ(other.SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain");
  }
  AwaitStreams(0);
}

TEST_F(StreamServerTest, StreamsEndWhenTheServerStops) {
  TestClient client(server_->port());
  client.Send(kStreamRequest);
  AwaitStreams(1);
  const auto begin = std::chrono::steady_clock::now();
  server_->Stop(std::chrono::milliseconds(20'000));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(10'000));
  EXPECT_EQ(alive_, 0);
  const TestResponse got = client.Read();  // to the last chunk
  EXPECT_TRUE(got.body.starts_with("tick\n")) << got.body;
}

// The client closes its sending side and reads on.
TEST_F(StreamServerTest, AHalfClosedClientGetsTheEnd) {
  TestClient client(server_->port());
  client.Send(kStreamRequest);
  AwaitStreams(1);
  client.EndSending();
  EXPECT_TRUE(client.Read().body.starts_with("tick\n"));
  AwaitStreams(0);
}

}  // namespace
}  // namespace penstock::emulator::http
