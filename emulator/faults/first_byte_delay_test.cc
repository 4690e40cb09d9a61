#include "emulator/faults/first_byte_delay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "emulator/api/exchange.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Teapot final : public api::Handler {
 public:
  void Handle(api::Exchange& exchange) override { exchange.response.status = 418; }
};

// A wire that can wait, and remembers when each answer was given.
class Wire final : public api::LateAnswer, public store::Executor {
 public:
  store::Executor& executor() override { return *this; }
  void Execute(store::Errand&, Caller) noexcept override { ADD_FAILURE() << "nothing was left to do"; }
  void Give() noexcept override {
    {
      const MutexLock lock(mutex_);
      given_.push_back(steady_clock::now());
    }
    changed_.NotifyAll();
  }
  std::size_t given() {
    const MutexLock lock(mutex_);
    return given_.size();
  }
  // The times of the first `count` answers.
  std::vector<steady_clock::time_point> Await(std::size_t count) {
    const auto limit = steady_clock::now() + std::chrono::seconds(20);
    const MutexLock lock(mutex_);
    while (given_.size() < count && changed_.WaitUntil(mutex_, limit)) {
    }
    return given_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<steady_clock::time_point> given_ PENSTOCK_GUARDED_BY(mutex_);
};

struct Asked {
  Asked(api::Handler& handler, const std::string& method, api::LateAnswer* late) {
    head.method = method;
    exchange.late = late;
    handler.Handle(exchange);
  }
  api::RequestHead head;
  api::Connection connection;
  api::Exchange exchange{.request = head, .connection = connection};
};

TEST(FirstByteDelayTest, HoldsManyAnswersBackAtATime) {
  Teapot next;
  Wire wire;
  const auto handler = MakeFirstByteDelay(milliseconds(30), next);
  const auto start = steady_clock::now();
  std::vector<std::unique_ptr<Asked>> asked;
  for (int i = 0; i < 200; ++i) asked.push_back(std::make_unique<Asked>(*handler, i % 2 == 0 ? "GET" : "HEAD", &wire));
  for (const auto& one : asked) EXPECT_TRUE(one->exchange.pending);
  const auto given = wire.Await(200);
  ASSERT_EQ(given.size(), 200u);
  EXPECT_GE(given.front() - start, milliseconds(30));
  EXPECT_LT(given.back() - start, milliseconds(30) * 200) << "one after the other";
  EXPECT_EQ(asked.back()->exchange.response.status, 418);
}

TEST(FirstByteDelayTest, DelaysNoWrites) {
  Teapot next;
  Wire wire;
  const auto handler = MakeFirstByteDelay(std::chrono::hours(1), next);
  const Asked asked(*handler, "PUT", &wire);
  EXPECT_FALSE(asked.exchange.pending);
  EXPECT_EQ(wire.given(), 0u);
}

TEST(FirstByteDelayTest, GivesWhatItHoldsWhenDestroyed) {
  Teapot next;
  Wire wire;
  auto handler = MakeFirstByteDelay(std::chrono::hours(1), next);
  const Asked first(*handler, "GET", &wire);
  const Asked second(*handler, "GET", &wire);
  EXPECT_EQ(wire.given(), 0u);
  handler.reset();
  EXPECT_EQ(wire.given(), 2u);
}

TEST(FirstByteDelayTest, WaitsItselfWhereTheWireCannot) {
  Teapot next;
  const auto handler = MakeFirstByteDelay(milliseconds(20), next);
  const auto start = steady_clock::now();
  const Asked asked(*handler, "GET", nullptr);
  EXPECT_FALSE(asked.exchange.pending);
  EXPECT_GE(steady_clock::now() - start, milliseconds(20));
}

TEST(FirstByteDelayTest, ZeroChangesNothing) {
  Teapot next;
  Wire wire;
  const auto handler = MakeFirstByteDelay(milliseconds(0), next);
  const Asked asked(*handler, "GET", &wire);
  EXPECT_FALSE(asked.exchange.pending);
}

}  // namespace
}  // namespace penstock::emulator::faults
