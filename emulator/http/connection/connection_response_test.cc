// Asynchronous responses, completed after the handler has returned, as a client sees them.
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

std::string Get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

// Responds asynchronously to every target but "/now". The responses wait until the test completes
// them.
class DeferringHandler final : public message::Handler {
 public:
  ~DeferringHandler() override {
    EXPECT_TRUE(deferred_.empty()) << "the test left responses incomplete";
  }

  void Handle(message::Exchange& exchange) override {
    if (exchange.request.target == "/now") return RespondWith(exchange, "now");
    {
      const std::lock_guard lock(mutex_);
      deferred_.push_back(exchange.RespondLater());
    }
    if (exchange.request.target == "/early") CompleteAll();
    if (exchange.request.target == "/throws") throw std::runtime_error("secret");
  }
  void Finish(message::Exchange& exchange) override {
    RespondWith(exchange, "late " + std::string(exchange.request.target));
  }

  // Waits until `count` responses are pending.
  void Await(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + kTestTimeout;
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard lock(mutex_);
        if (deferred_.size() >= count) return;
      }
      ::poll(nullptr, 0, 1);
    }
    ADD_FAILURE() << "fewer requests arrived than expected";
  }
  void CompleteAll() {
    std::vector<message::PendingResponse> given;
    const std::lock_guard lock(mutex_);
    given.swap(deferred_);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<message::PendingResponse> deferred_;
};

class AsyncResponseTest : public testing::Test {
 protected:
  void Start(int threads = 2) {
    ServerOptions options;
    options.min_threads = threads;
    options.max_threads = threads;
    options.on_finished = [this](const message::Exchange& exchange) {
      const std::lock_guard lock(mutex_);
      finished_ += std::string(exchange.request.target) + " " +
                   std::to_string(exchange.response.status) + ";";
    };
    server_ = StartServer(handler_, options);
    ASSERT_NE(server_, nullptr);
  }
  std::string Finished() {
    const std::lock_guard lock(mutex_);
    return finished_;
  }

  DeferringHandler handler_;
  std::mutex mutex_;
  std::string finished_;
  std::unique_ptr<Server> server_;
};

TEST_F(AsyncResponseTest, MayBeCompletedByAnyThread) {
  Start();
  TestClient client(server_->port());
  for (int round = 0; round < 3; ++round) {
    client.Send(Get("/a"));
    handler_.Await(1);
    EXPECT_TRUE(client.Silent());
    handler_.CompleteAll();
    EXPECT_EQ(client.Read().body, "late /a");
  }
}

TEST_F(AsyncResponseTest, MayBeCompletedBeforeTheHandlerReturns) {
  Start();
  TestClient client(server_->port());
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(client.SendRequest(Get("/early")).body, "late /early");
}

TEST_F(AsyncResponseTest, ManyPendingResponsesDelayNoOther) {
  Start(1);
  std::vector<TestClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(server_->port());
    clients.back().Send(Get("/" + std::to_string(i)));
  }
  handler_.Await(50);
  EXPECT_EQ(TestClient(server_->port()).SendRequest(Get("/now")).body, "now");
  handler_.CompleteAll();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].Read().body, "late /" + std::to_string(i));
}

TEST_F(AsyncResponseTest, PipelinedRequestsGetResponsesInOrder) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a") + Get("/now") + Get("/b") + Get("/now"));
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.CompleteAll();
  EXPECT_EQ(client.Read().body, "late /a");
  EXPECT_EQ(client.Read().body, "now");
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.CompleteAll();
  EXPECT_EQ(client.Read().body, "late /b");
  EXPECT_EQ(client.Read().body, "now");
}

TEST_F(AsyncResponseTest, ServesANextRequestThatArrivesInTwoParts) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a") + "GET /now HT");
  handler_.Await(1);
  handler_.CompleteAll();
  EXPECT_EQ(client.Read().body, "late /a");
  EXPECT_EQ(client.SendRequest("TP/1.1\r\nHost: h\r\n\r\n").body, "now");
}

TEST_F(AsyncResponseTest, ClosedClientDisturbsNoOther) {
  Start();
  {
    TestClient gone(server_->port());
    gone.Send(Get("/gone"));
    handler_.Await(1);
  }
  handler_.CompleteAll();
  EXPECT_EQ(TestClient(server_->port()).SendRequest(Get("/now")).body, "now");
  server_->Stop(milliseconds(0));
  EXPECT_NE(Finished().find("/gone 200;"), std::string::npos) << Finished();
}

TEST_F(AsyncResponseTest, HandlerThatThrowsAfterDeferringGetsInternalError) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/throws"));
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.CompleteAll();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("<Code>InternalError</Code>"), std::string::npos);
}

TEST_F(AsyncResponseTest, StopWaitsForThePendingResponse) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a"));
  handler_.Await(1);
  std::jthread stopper([&] { server_->Stop(kTestTimeout); });
  handler_.CompleteAll();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.body, "late /a");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(AsyncResponseTest, StopWithoutGraceWaitsForCompletion) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a"));
  handler_.Await(1);
  std::jthread stopper([&] { server_->Stop(milliseconds(0)); });
  client.ReadToEnd();  // closed: only the holder of the pending response may touch the exchange
  handler_.CompleteAll();
  stopper.join();
  EXPECT_NE(Finished().find("/a 200;"), std::string::npos) << Finished();
}

// Responds from a task, like a store that commits.
class TaskHandler final : public message::Handler {
 public:
  class DeferredResponse final : public penstock::Task {
   public:
    explicit DeferredResponse(message::PendingResponse promise) : promise_(std::move(promise)) {}
    void Run() noexcept override { promise_.reset(); }

   private:
    std::optional<message::PendingResponse> promise_;
  };

  void Handle(message::Exchange& exchange) override {
    if (exchange.request.target == "/stall") {
      stalled.set_value();
      released.wait();
      return;
    }
    task.emplace(exchange.RespondLater());
    exchange.async->executor().Execute(*task, caller);
    if (exchange.request.target == "/first") ready.wait();
  }
  void Finish(message::Exchange& exchange) override { RespondWith(exchange, "done"); }

  Executor::Caller caller = Executor::Caller::kReturns;
  std::optional<DeferredResponse> task;
  std::promise<void> stalled;
  std::promise<void> release;
  std::shared_future<void> released{release.get_future()};
  std::promise<void> sent;
  std::shared_future<void> ready{sent.get_future()};
};

TEST(LateResponseTaskTest, RunsOnTheThreadThatAddedIt) {
  TaskHandler handler;
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 1;
  const auto server = StartServer(handler, options);
  TestClient client(server->port());
  for (int round = 0; round < 20; ++round) ASSERT_EQ(client.SendRequest(Get("/a")).body, "done");
}

// The thread that added the task is blocked by a slow request that was ready before it. Another
// thread must run the task.
TEST(LateResponseTaskTest, RunsThoughAllThreadsAreBlocked) {
  TaskHandler handler;
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 8;
  const auto server = StartServer(handler, options);
  TestClient first(server->port());
  first.Send(Get("/first"));
  TestClient slow(server->port());
  slow.Send(Get("/stall"));
  handler.sent.set_value();
  EXPECT_EQ(first.Read().body, "done");
  handler.release.set_value();
  EXPECT_EQ(slow.Read().status, 200);
}

TEST(LateResponseTaskTest, ABusyThreadWakesAnIdleOne) {
  TaskHandler handler;
  handler.caller = Executor::Caller::kGoesOn;
  ServerOptions options;
  options.min_threads = 2;
  options.max_threads = 2;
  const auto server = StartServer(handler, options);
  TestClient client(server->port());
  client.Send(Get("/first"));  // its thread runs the task, then is busy until `ready`
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  EXPECT_TRUE(client.Silent());
  handler.sent.set_value();
  EXPECT_EQ(client.Read().body, "done");
  EXPECT_LT(std::chrono::steady_clock::now(), end);
}

}  // namespace
}  // namespace penstock::emulator::http
