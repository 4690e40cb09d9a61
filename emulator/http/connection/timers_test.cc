#include "emulator/http/connection/timers.h"

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

MonotonicTime In(int ms) { return std::chrono::steady_clock::now() + milliseconds(ms); }

class RecordedResponse final : public message::AsyncResponse, private Executor {
 public:
  explicit RecordedResponse(std::function<void()> given) : given_(std::move(given)) {}
  Executor& executor() override { return *this; }
  void Complete() noexcept override { given_(); }

 private:
  void Execute(penstock::Task&, Caller) noexcept override {}
  const std::function<void()> given_;
};

TEST(TimersTest, CompletesInOrderOfTime) {
  std::mutex mutex;
  std::string order;
  std::promise<void> all;
  const auto note = [&](char name) {
    return std::make_unique<RecordedResponse>([&, name] {
      const std::lock_guard lock(mutex);
      order += name;
      if (order.size() == 4) all.set_value();
    });
  };
  const auto a = note('a');
  const auto b = note('b');
  const auto c = note('c');
  const auto d = note('d');
  Timers timers;
  const MonotonicTime soon = In(30);
  timers.Add(soon + milliseconds(10), *d);
  timers.Add(soon, *b);
  timers.Add(soon, *c);
  timers.Add(soon - milliseconds(10), *a);
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(order, "abcd");
}

TEST(TimersTest, CompletesNothingEarly) {
  std::promise<MonotonicTime> given;
  RecordedResponse response([&] { given.set_value(std::chrono::steady_clock::now()); });
  Timers timers;
  const MonotonicTime when = In(20);
  timers.Add(when, response);
  EXPECT_GE(given.get_future().get(), when);
}

TEST(TimersTest, FireAllCompletesWaitingResponses) {
  std::atomic<int> given{0};
  std::deque<RecordedResponse> responses;
  Timers timers;
  for (int i = 0; i < 10; ++i) timers.Add(In(3'600'000), responses.emplace_back([&] { ++given; }));
  timers.FireAll();
  EXPECT_EQ(given, 10);
  timers.FireAll();
  EXPECT_EQ(given, 10);
}

TEST(TimersTest, DestructorCompletesWaitingResponses) {
  std::atomic<int> given{0};
  RecordedResponse response([&] { ++given; });
  { Timers().Add(In(3'600'000), response); }
  EXPECT_EQ(given, 1);
}

TEST(TimersTest, AddMayBeCalledFromComplete) {
  Timers timers;
  std::promise<void> second_given;
  RecordedResponse second([&] { second_given.set_value(); });
  RecordedResponse first([&] { timers.Add(In(1), second); });
  timers.Add(In(1), first);
  EXPECT_EQ(second_given.get_future().wait_for(std::chrono::seconds(20)),
            std::future_status::ready);
}

}  // namespace
}  // namespace penstock::emulator::http
