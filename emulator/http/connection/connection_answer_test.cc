// Answers that are given after the handler has returned, as a client sees them.
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

// Promises an answer to every target but "/now", and keeps the promises until it is told to give
// them.
class Promiser final : public s3::Handler {
 public:
  ~Promiser() override {
    EXPECT_TRUE(promises_.empty()) << "a promise that is given here has no server any more";
  }

  void Handle(s3::Exchange& exchange) override {
    if (exchange.request.target == "/now") return AnswerWith(exchange, "now");
    {
      const std::lock_guard lock(mutex_);
      promises_.push_back(exchange.RespondLater());
    }
    exchange.WhenAnswered([](s3::Exchange& answered) {
      AnswerWith(answered, "late " + std::string(answered.request.target));
    });
    if (exchange.request.target == "/early") GiveAll();
    if (exchange.request.target == "/throws") throw std::runtime_error("secret");
  }

  // Waits until there are so many.
  void Await(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + kTestPatience;
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard lock(mutex_);
        if (promises_.size() >= count) return;
      }
      ::poll(nullptr, 0, 1);
    }
    ADD_FAILURE() << "so many requests never came";
  }
  void GiveAll() {
    std::vector<s3::PendingResponse> given;
    const std::lock_guard lock(mutex_);
    given.swap(promises_);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<s3::PendingResponse> promises_;
};

class LateAnswerTest : public testing::Test {
 protected:
  void Start(int threads = 2) {
    ServerOptions options;
    options.min_threads = threads;
    options.max_threads = threads;
    options.on_finished = [this](const s3::Exchange& exchange) {
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

  Promiser handler_;
  std::mutex mutex_;
  std::string finished_;
  std::unique_ptr<Server> server_;
};

TEST_F(LateAnswerTest, ArrivesOnceItIsGivenByAnyThread) {
  Start();
  TestClient client(server_->port());
  for (int round = 0; round < 3; ++round) {
    client.Send(Get("/a"));
    handler_.Await(1);
    EXPECT_TRUE(client.Silent());
    handler_.GiveAll();
    EXPECT_EQ(client.Read().body, "late /a");
  }
}

TEST_F(LateAnswerTest, MayBeGivenBeforeTheHandlerReturns) {
  Start();
  TestClient client(server_->port());
  for (int round = 0; round < 3; ++round) EXPECT_EQ(client.Ask(Get("/early")).body, "late /early");
}

TEST_F(LateAnswerTest, ManyThatWaitHoldUpNobody) {
  Start(1);
  std::vector<TestClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(server_->port());
    clients.back().Send(Get("/" + std::to_string(i)));
  }
  handler_.Await(50);
  EXPECT_EQ(TestClient(server_->port()).Ask(Get("/now")).body, "now");
  handler_.GiveAll();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].Read().body, "late /" + std::to_string(i));
}

TEST_F(LateAnswerTest, PipelinedRequestsWaitForItTheirTurn) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a") + Get("/now") + Get("/b") + Get("/now"));
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.GiveAll();
  EXPECT_EQ(client.Read().body, "late /a");
  EXPECT_EQ(client.Read().body, "now");
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.GiveAll();
  EXPECT_EQ(client.Read().body, "late /b");
  EXPECT_EQ(client.Read().body, "now");
}

TEST_F(LateAnswerTest, HalfAHeadBehindItIsServedWhenTheRestArrives) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a") + "GET /now HT");
  handler_.Await(1);
  handler_.GiveAll();
  EXPECT_EQ(client.Read().body, "late /a");
  EXPECT_EQ(client.Ask("TP/1.1\r\nHost: h\r\n\r\n").body, "now");
}

TEST_F(LateAnswerTest, AClientThatLeftMeanwhileDisturbsNobody) {
  Start();
  {
    TestClient gone(server_->port());
    gone.Send(Get("/gone"));
    handler_.Await(1);
  }
  handler_.GiveAll();
  EXPECT_EQ(TestClient(server_->port()).Ask(Get("/now")).body, "now");
  server_->Stop(milliseconds(0));
  EXPECT_NE(Finished().find("/gone 200;"), std::string::npos) << Finished();
}

TEST_F(LateAnswerTest, AHandlerThatThrowsBehindItsPromiseIsAnInternalErrorOnceItIsKept) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/throws"));
  handler_.Await(1);
  EXPECT_TRUE(client.Silent());
  handler_.GiveAll();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("<Code>InternalError</Code>"), std::string::npos);
}

TEST_F(LateAnswerTest, StopWaitsForItAndSendsIt) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a"));
  handler_.Await(1);
  std::jthread stopper([&] { server_->Stop(kTestPatience); });
  handler_.GiveAll();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.body, "late /a");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(LateAnswerTest, StopWithoutGraceStillWaitsForThePromise) {
  Start();
  TestClient client(server_->port());
  client.Send(Get("/a"));
  handler_.Await(1);
  std::jthread stopper([&] { server_->Stop(milliseconds(0)); });
  client.ReadToEnd();  // shut down: nothing touches the exchange any more but who made the promise
  handler_.GiveAll();
  stopper.join();
  EXPECT_NE(Finished().find("/a 200;"), std::string::npos) << Finished();
}

// Leaves the answer to an task, as a store does with a commit.
class TaskHandler final : public s3::Handler {
 public:
  class Answer final : public store::Task {
   public:
    explicit Answer(s3::PendingResponse promise) : promise_(std::move(promise)) {}
    void Run() noexcept override { promise_.reset(); }

   private:
    std::optional<s3::PendingResponse> promise_;
  };

  void Handle(s3::Exchange& exchange) override {
    if (exchange.request.target == "/stall") {
      stalled.set_value();
      released.wait();
      return;
    }
    task.emplace(exchange.RespondLater());
    exchange.WhenAnswered([](s3::Exchange& answered) { AnswerWith(answered, "done"); });
    exchange.late->executor().Execute(*task, caller);
    if (exchange.request.target == "/first") ready.wait();
  }

  store::Executor::Caller caller = store::Executor::Caller::kReturns;
  std::optional<Answer> task;
  std::promise<void> stalled;
  std::promise<void> release;
  std::shared_future<void> released{release.get_future()};
  std::promise<void> sent;
  std::shared_future<void> ready{sent.get_future()};
};

TEST(LateResponseTaskTest, RunsOnTheThreadThatLeftIt) {
  TaskHandler handler;
  ServerOptions options;
  options.min_threads = 1;
  options.max_threads = 1;
  const auto server = StartServer(handler, options);
  TestClient client(server->port());
  for (int round = 0; round < 20; ++round) ASSERT_EQ(client.Ask(Get("/a")).body, "done");
}

// The thread that left the task is held up by a slow request that was ready before it: another one
// must run it.
TEST(LateResponseTaskTest, IsRunThoughEveryThreadIsHeldUp) {
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

TEST(LateResponseTaskTest, AnIdleThreadIsCalledByOneThatGoesOn) {
  TaskHandler handler;
  handler.caller = store::Executor::Caller::kGoesOn;
  ServerOptions options;
  options.min_threads = 2;
  options.max_threads = 2;
  const auto server = StartServer(handler, options);
  TestClient client(server->port());
  client.Send(Get("/first"));  // its thread is busy until `ready`, its task is run before
  const auto end = std::chrono::steady_clock::now() + kTestPatience;
  EXPECT_TRUE(client.Silent());
  handler.sent.set_value();
  EXPECT_EQ(client.Read().body, "done");
  EXPECT_LT(std::chrono::steady_clock::now(), end);
}

}  // namespace
}  // namespace penstock::emulator::http
