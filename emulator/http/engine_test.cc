#include "emulator/http/engine.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/engine_fixture.h"
#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

// Blocks callers of Pass until it is opened.
class Gate {
 public:
  void Pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  // Returns false when fewer than `count` callers arrived in time.
  bool AwaitInside(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return inside_ >= count; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

TEST(Engine, IdleConnectionsNeedNoThread) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  ServerOptions options;
  options.min_threads = 2;
  options.max_threads = 2;
  const auto server = StartServer(handler, options);
  std::vector<TestClient> idle;
  for (int i = 0; i < 500; ++i) {
    idle.emplace_back(server->port());
    const bool used_before = i % 2 == 0;
    if (used_before) {
      ASSERT_EQ(idle.back().SendRequest(kGet).status, 200);
    }
  }
  TestClient active(server->port());
  for (int i = 0; i < 200; ++i) ASSERT_EQ(active.SendRequest(kGet).status, 200);
  for (TestClient& client : idle) ASSERT_EQ(client.SendRequest(kGet).status, 200);
}

// The close arrives in the same event as the request, and causes no further event.
TEST(Engine, RespondsToAClientThatClosesWithItsRequest) {
  FunctionHandler handler([](message::Exchange& exchange) { RespondWith(exchange, "x"); });
  const auto server = StartServer(handler);
  for (int i = 0; i < 20; ++i) {
    TestClient client(server->port());
    client.Send(kGet);
    client.EndSending();
    ASSERT_EQ(client.Read().status, 200);
    ASSERT_TRUE(client.EndsOrderly());
  }
}

struct SlowState final : message::Attachment {
  explicit SlowState(Gate& of) : gate(of) {}
  ~SlowState() override { gate.Pass(); }
  Gate& gate;
};

// Like a connection that holds the last reference to a large store.
TEST(Engine, SlowDestructionDelaysNoOtherConnection) {
  Gate gate;
  FunctionHandler handler([&](message::Exchange& exchange) {
    if (exchange.request.target != "/slow") return;
    exchange.Attach<SlowState>(gate);
    exchange.response.action = message::WireAction::kReset;
  });
  const auto server = StartServer(handler);
  TestClient earlier(server->port());
  ASSERT_EQ(earlier.SendRequest(kGet).status, 200);
  TestClient slow(server->port());
  slow.Send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(gate.AwaitInside(1));
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  EXPECT_EQ(earlier.SendRequest(kGet).status, 200);
  gate.Open();
}

TEST(Engine, GrowsWhileRequestsStallAndServesTheOthers) {
  Gate gate;
  FunctionHandler handler([&](message::Exchange& exchange) {
    if (exchange.request.target == "/stall") gate.Pass();
  });
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 64;
  const auto server = StartServer(handler, options);
  std::vector<TestClient> stalled;
  for (int i = 0; i < 20; ++i) {
    stalled.emplace_back(server->port());
    stalled.back().Send("GET /stall HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  EXPECT_TRUE(gate.AwaitInside(20));
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  gate.Open();
  for (TestClient& client : stalled) EXPECT_EQ(client.Read().status, 200);
}

// Regression: with a few slow uploads in progress and two quiet seconds, the last idle thread
// ended. A new client then got its response only when one of the uploads had ended.
TEST(Engine, TheLastIdleThreadStaysWhileOthersWaitForBodies) {
  FunctionHandler handler(
      [](message::Exchange& exchange) { RespondWith(exchange, ReadBody(*exchange.body)); });
  ServerOptions options;
  options.min_threads = 1;
  options.progress_timeout = 4 * kTestTimeout;
  // Longer than the load is sampled after the last change.
  options.retire_after = milliseconds(150);
  const auto server = StartServer(handler, options);
  std::vector<TestClient> slow;
  for (int i = 0; i < 5; ++i) {
    slow.emplace_back(server->port());
    slow.back().Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
    ASSERT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  }
  for (int quiet = 0; quiet < 2; ++quiet) {
    const auto end = std::chrono::steady_clock::now() + milliseconds(500);
    while (std::chrono::steady_clock::now() < end) ::poll(nullptr, 0, 10);
    ASSERT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  }
  for (TestClient& client : slow) {
    client.Send("llo");
    EXPECT_EQ(client.Read().body, "hello");
  }
}

// Threads are added late: on a busy machine they would only compete.
TEST(Engine, AddsThreadsEventuallyBesideBusyThreads) {
  std::atomic<bool> stop{false};
  FunctionHandler handler([&](message::Exchange& exchange) {
    while (exchange.request.target == "/spin" && !stop) {
    }
  });
  ServerOptions options;
  options.min_threads = 1;
  const auto server = StartServer(handler, options);
  TestClient spinning(server->port());
  spinning.Send("GET /spin HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(TestClient(server->port()).SendRequest(kGet).status, 200);
  stop = true;
  EXPECT_EQ(spinning.Read().status, 200);
}

TEST(Engine, NeverExceedsMaxThreads) {
  Gate gate;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  FunctionHandler handler([&](message::Exchange&) {
    const int now = ++inside;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    gate.Pass();
    --inside;
  });
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 3;
  const auto server = StartServer(handler, options);
  std::vector<TestClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back(server->port());
    clients.back().Send(kGet);
  }
  EXPECT_TRUE(gate.AwaitInside(3));
  gate.Open();
  for (TestClient& client : clients) EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(most.load(), 3);
}

TEST(Engine, StopLetsARequestInProgressFinish) {
  Gate gate;
  FunctionHandler handler([&](message::Exchange& exchange) {
    gate.Pass();
    RespondWith(exchange, "done");
  });
  const auto server = StartServer(handler);
  TestClient client(server->port());
  client.Send(kGet);
  ASSERT_TRUE(gate.AwaitInside(1));
  std::jthread stopper([&] { server->Stop(kTestTimeout); });
  gate.Open();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.body, "done");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST(Engine, StopEndsStalledPeersAfterTheGrace) {
  std::promise<void> reading;
  std::promise<std::string> outcome;
  FunctionHandler handler([&](message::Exchange& exchange) {
    if (exchange.request.method != "PUT") return RespondWith(exchange, std::string(64 << 20, 'x'));
    reading.set_value();
    outcome.set_value(ReadBody(*exchange.body));
  });
  const auto server = StartServer(handler);
  TestClient idle(server->port());
  TestClient half_a_head(server->port());
  half_a_head.Send("GET / HT");
  TestClient half_a_body(server->port());
  half_a_body.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
  TestClient deaf(server->port());
  deaf.Send(kGet);
  pollfd readable{deaf.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, static_cast<int>(kTestTimeout.count())), 1);
  reading.get_future().wait();
  const auto begin = std::chrono::steady_clock::now();
  server->Stop(milliseconds(50));
  // Far below the progress timeout of 20 s.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
  EXPECT_EQ(outcome.get_future().get(), "error ServiceUnavailable");
  EXPECT_TRUE(idle.EndsOrderly());
  server->Stop(milliseconds(0));  // the second call has no effect
}

// A handler that works until its request is cancelled, as a copy of a large object does between two
// blocks.
class BusyHandler final : public message::Handler {
 public:
  void Handle(message::Exchange& exchange) override {
    gate.Pass();
    const auto give_up = std::chrono::steady_clock::now() + kTestTimeout;
    while (!exchange.wire->IsCancelled()) {
      if (std::chrono::steady_clock::now() > give_up)
        return RespondWith(exchange, "never cancelled");
      std::this_thread::yield();
    }
    ++cancelled;
    RespondWith(exchange, "cancelled");
  }
  Gate gate;
  std::atomic<int> cancelled{0};
};

TEST(Engine, StopCancelsHandlersWhoseConnectionsAreClosedWithinTheGrace) {
  BusyHandler handler;
  const auto server = StartServer(handler);
  {
    TestClient client(server->port());
    client.Send(kGet);
    ASSERT_TRUE(handler.gate.AwaitInside(1));
    handler.gate.Open();
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  }
  server->Stop(std::chrono::minutes(30));  // longer than any test may last
  EXPECT_EQ(handler.cancelled.load(), 1);
}

TEST(Engine, StopCancelsNoHandlerWithinTheGraceWhoseClientHasEndedItsSideAndReads) {
  Gate gate;
  std::atomic<bool> stopping{false};
  bool cancelled = false;
  FunctionHandler handler([&](message::Exchange& exchange) {
    gate.Pass();
    while (!exchange.wire->PeerHasClosed()) std::this_thread::yield();
    while (!stopping) std::this_thread::yield();
    // in which Stop takes effect
    const auto end = std::chrono::steady_clock::now() + milliseconds(50);
    while (!cancelled && std::chrono::steady_clock::now() < end)
      cancelled = exchange.wire->IsCancelled();
    RespondWith(exchange, "done");
  });
  const auto server = StartServer(handler);
  TestClient client(server->port());
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
  client.EndSending();
  ASSERT_TRUE(gate.AwaitInside(1));
  gate.Open();
  std::jthread stopper([&] {
    stopping = true;
    server->Stop(std::chrono::minutes(30));
  });
  EXPECT_EQ(client.Read().body, "done");
  EXPECT_FALSE(cancelled);
}

TEST(Engine, StopCancelsHandlersNearTheEndOfTheGraceAndSendsTheirResponses) {
  BusyHandler handler;
  const auto server = StartServer(handler);
  TestClient client(server->port());
  // The handler does not read the body. Closing with unread bytes would reset the connection.
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(500'000, 'x'));
  ASSERT_TRUE(handler.gate.AwaitInside(1));
  handler.gate.Open();
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stopper([&] { server->Stop(milliseconds(2'000)); });
  EXPECT_EQ(client.Read().body, "cancelled");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(1'000));
  client.Send(std::string(500'000, 'x'));
  EXPECT_TRUE(client.EndsOrderly());
  EXPECT_EQ(handler.cancelled.load(), 1);
}

TEST(Engine, StopWaitsNoLongerThanTheGraceForAClientThatReadsNoCancelledResponse) {
  BusyHandler handler;
  const auto server = StartServer(handler);
  TestClient client(server->port());
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(500'000, 'x'));
  ASSERT_TRUE(handler.gate.AwaitInside(1));
  handler.gate.Open();
  const auto begin = std::chrono::steady_clock::now();
  server->Stop(milliseconds(50));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(50));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1'500)) << "the linger is 2 s";
  EXPECT_EQ(handler.cancelled.load(), 1);
}

// An upload that waits for its client when the server stops.
void ExpectAResponseToHalfABody(const ServerOptions& options) {
  FunctionHandler handler(
      [](message::Exchange& exchange) { RespondWith(exchange, ReadBody(*exchange.body)); });
  const auto server = StartServer(handler, options);
  TestClient client(server->port());
  client.Send(
      "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n");
  ASSERT_EQ(client.Read().status, 100) << "the server reads the body";
  client.Send(std::string(100'000, 'x'));
  std::jthread stopper([&] { server->Stop(milliseconds(2'000)); });
  const TestResponse response = client.Read();
  EXPECT_EQ(response.body, "error ServiceUnavailable");
  EXPECT_EQ(response.Find("Connection"), "close");
  // Bytes that arrive after the response do not reset the connection.
  client.Send(std::string(100'000, 'x'));
  EXPECT_TRUE(client.EndsOrderly());
}

TEST(Engine, StopRespondsToAnUploadThatWaitsForItsClient) { ExpectAResponseToHalfABody({}); }

TEST(Engine, StopRespondsToAStoredUploadThatWaitsForItsClient) {
  ExpectAResponseToHalfABody({.min_threads = 1, .max_threads = 1});  // none may wait for bodies
}

TEST(Engine, DisconnectedClientDoesNotCancelItsRequest) {
  std::promise<bool> cancelled;
  Gate gate;
  FunctionHandler handler([&](message::Exchange& exchange) {
    gate.Pass();
    while (!exchange.wire->PeerHasClosed()) std::this_thread::yield();
    cancelled.set_value(exchange.wire->IsCancelled());
  });
  const auto server = StartServer(handler);
  {
    TestClient client(server->port());
    client.Send(kGet);
    ASSERT_TRUE(gate.AwaitInside(1));
    gate.Open();
  }
  EXPECT_FALSE(cancelled.get_future().get());
}

TEST(Engine, RetiresSurplusThreads) {
  Gate gate;
  FunctionHandler handler([&](message::Exchange&) { gate.Pass(); });
  RequestIdSource ids(1);
  EngineOptions options = OneThread(handler, ids);
  options.retire_after = milliseconds(20);
  auto engine = Engine::Start(std::move(options));
  ASSERT_TRUE(engine.ok());
  std::vector<Pipe> pipes(8);
  for (Pipe& pipe : pipes) {
    (*engine)->Add(::dup(pipe.stream->fd()));
    pipe.peer->Send(kGet);
  }
  EXPECT_TRUE(gate.AwaitInside(8));
  EXPECT_GE((*engine)->threads(), 8);
  gate.Open();
  for (Pipe& pipe : pipes) EXPECT_EQ(pipe.peer->Read().status, 200);
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while ((*engine)->threads() > 1 && std::chrono::steady_clock::now() < end) ::poll(nullptr, 0, 2);
  EXPECT_EQ((*engine)->threads(), 1);
  EXPECT_EQ((*engine)->connections(), 8u);
  (*engine)->Stop(milliseconds(0));
  EXPECT_EQ((*engine)->connections(), 0u);
}

// A test whose client has closed a black-holed connection must end at once, not after the grace.
TEST(Engine, StopSkipsThePauseOfAResponseWithoutClient) {
  Gate gate;
  gate.Open();
  FunctionHandler handler([&](message::Exchange& exchange) {
    exchange.response.delivery = std::make_unique<message::Delivery>();
    exchange.response.delivery->steps.push_back({.wait = std::chrono::hours(1)});
    gate.Pass();
  });
  const auto server = StartServer(handler);
  {
    TestClient client(server->port());
    client.Send(kGet);
    ASSERT_TRUE(gate.AwaitInside(1));
  }
  server->Stop(std::chrono::minutes(30));  // longer than any test may last
  SUCCEED();
}

}  // namespace
}  // namespace penstock::emulator::http
