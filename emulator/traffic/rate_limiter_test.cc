#include "emulator/traffic/rate_limiter.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/fake_clock.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RateLimiterTest : public testing::Test {
 protected:
  std::shared_ptr<ThrottleState> Under(std::string_view text) {
    limiter_.Set(ParseThrottleSettings(text).value());
    return limiter_.Current();
  }
  // Returns how many of `count` reads are admitted.
  static int Reads(ThrottleState& throttle, int count, std::string_view key = "k",
                   std::string_view bucket = "b") {
    int admitted = 0;
    for (int i = 0; i < count; ++i) admitted += throttle.Admit(bucket, key, Traffic::kRead) ? 1 : 0;
    return admitted;
  }
  FakeClock clock_;
  RateLimiter limiter_{clock_};
};

TEST_F(RateLimiterTest, HasNoStateWithoutSettings) {
  EXPECT_EQ(limiter_.Current(), nullptr);
  EXPECT_EQ(limiter_.Report().document, "{}");
  EXPECT_NE(Under("aws-strict"), nullptr);
  EXPECT_EQ(Under("{}"), nullptr);
}

// 10 per second and a burst of 400 ms: 4 tokens at first, then one every 100 ms.
TEST_F(RateLimiterTest, GrantsTokensInTheClocksTime) {
  const auto throttle = Under(R"({"reads_per_second": 10, "burst_ms": 400})");
  EXPECT_EQ(Reads(*throttle, 6), 4);
  clock_.Advance(milliseconds(99));
  EXPECT_EQ(Reads(*throttle, 1), 0);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Reads(*throttle, 2), 1);
  clock_.Advance(seconds(60));
  EXPECT_EQ(Reads(*throttle, 9), 4) << "at most one burst";
  const ThrottleReport report = throttle->Report();
  EXPECT_EQ(report.admitted, 9u);
  EXPECT_EQ(report.refused, 9u);
}

TEST_F(RateLimiterTest, BucketsHaveSeparateBudgets) {
  const auto throttle =
      Under(R"({"reads_per_second": 1, "buckets": {"rich": {"reads_per_second": 50}}})");
  EXPECT_EQ(Reads(*throttle, 3, "k", "one"), 1);
  EXPECT_EQ(Reads(*throttle, 3, "k", "other"), 1);
  EXPECT_EQ(Reads(*throttle, 9, "k", "rich"), 5);
}

TEST_F(RateLimiterTest, BucketStartsWithTheGivenPartitions) {
  const auto throttle =
      Under(R"({"reads_per_second": 1, "buckets": {"b": {"boundaries": ["m"]}}})");
  EXPECT_EQ(Reads(*throttle, 3, "a"), 1);
  EXPECT_EQ(Reads(*throttle, 3, "z"), 1);
  const ThrottleReport report = throttle->Report();
  ASSERT_EQ(report.buckets.size(), 1u);
  ASSERT_EQ(report.buckets[0].partitions.size(), 2u);
  EXPECT_EQ(report.buckets[0].partitions[1].begin, "m");
  EXPECT_EQ(report.buckets[0].partitions[1].reads.refused, 2u);
}

TEST_F(RateLimiterTest, ClockThatIsSetBackContinuesFromThere) {
  const auto throttle = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*throttle, 2), 1);
  clock_.SetNow(clock_.Now() - std::chrono::hours(24 * 365));
  EXPECT_EQ(Reads(*throttle, 1), 0) << "setting the clock back adds no tokens";
  clock_.Advance(seconds(1));
  EXPECT_EQ(Reads(*throttle, 1), 1);
}

TEST_F(RateLimiterTest, ToleratesClockJumpsOfCenturies) {
  const auto throttle = Under(R"({"reads_per_second": 1})");
  const WallTime now = clock_.Now();
  EXPECT_EQ(Reads(*throttle, 2), 1);
  for (int turn = 0; turn < 8; ++turn) {
    clock_.SetNow(now + std::chrono::years(200));
    EXPECT_EQ(Reads(*throttle, 2), 1) << "one full budget in round " << turn;
    clock_.SetNow(now);
    EXPECT_EQ(Reads(*throttle, 1), 0);
    clock_.Advance(seconds(1));
    EXPECT_EQ(Reads(*throttle, 2), 1) << turn;
  }
}

TEST_F(RateLimiterTest, ReportsTheClockTimeOfASplit) {
  const auto throttle = Under(R"({"reads_per_second": 2, "burst_ms": 500, "split_after_s": 3})");
  const auto load = [&] {
    for (int i = 0; i < 2; ++i) {
      Reads(*throttle, 1, "a");
      Reads(*throttle, 1, "z");
    }
    clock_.Advance(seconds(1));
  };
  for (int second = 0; second < 6; ++second) load();
  const ThrottleReport report = throttle->Report();
  ASSERT_EQ(report.buckets.at(0).events.size(), 1u);
  EXPECT_EQ(report.buckets[0].events[0].what.boundary, "z");
  EXPECT_EQ(report.buckets[0].events[0].at, clock_.Now() - seconds(3));
  EXPECT_EQ(report.buckets[0].partitions.size(), 2u);
}

TEST_F(RateLimiterTest, NewSettingsStartWithFullBudgets) {
  const auto old = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*old, 2), 1);
  const auto throttle = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*throttle, 2), 1);
  EXPECT_EQ(limiter_.Report().refused, 1u);
}

TEST_F(RateLimiterTest, KeepsABoundedNumberOfBuckets) {
  const auto throttle = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*throttle, 2, "k", "first"), 1);
  for (std::size_t i = 0; i < ThrottleState::kMaxBuckets; ++i)
    Reads(*throttle, 1, "k", std::to_string(i));
  EXPECT_EQ(throttle->Report().buckets.size(), ThrottleState::kMaxBuckets);
  EXPECT_EQ(throttle->Report().admitted, ThrottleState::kMaxBuckets + 1)
      << "the counters of evicted buckets are kept";
  EXPECT_EQ(Reads(*throttle, 2, "k", "first"), 1) << "an evicted bucket starts with a full budget";
}

TEST_F(RateLimiterTest, SameSeedGivesTheSameDraws) {
  const auto draws = [&](std::string_view text) {
    const auto throttle = Under(text);
    return std::vector<Draw>{throttle->DrawFor("a"), throttle->DrawFor("b"),
                             throttle->DrawFor("a")};
  };
  const auto first = draws(R"({"latency": "s3-standard", "seed": 5})");
  EXPECT_EQ(draws(R"({"latency": "s3-standard", "seed": 5})"), first);
  EXPECT_NE(draws(R"({"latency": "s3-standard", "seed": 6})"), first);
  EXPECT_NE(first[0], first[2]) << "a retry draws again";
}

TEST_F(RateLimiterTest, DrawsDoNotDependOnThreads) {
  const auto draws = [&](int threads) {
    const auto throttle = Under(R"({"latency": "s3-standard"})");
    Mutex mutex;
    std::multiset<Draw> drawn;
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([&] {
        for (int i = 0; i < 800 / threads; ++i) {
          const Draw draw = throttle->DrawFor(std::to_string(i % 7));
          const MutexLock lock(mutex);
          drawn.insert(draw);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    return drawn;
  };
  // With 8 workers of 100 draws, 0 and 1 occur 8 * 15 times and the others 8 * 14 times. With one
  // worker of 800 draws: 115 and 114.
  EXPECT_EQ(draws(8), draws(8));
}

TEST_F(RateLimiterTest, ConnectionKeepsItsRate) {
  const auto throttle = Under(R"({"latency": "s3-standard"})");
  EXPECT_EQ(throttle->RateOf(1), throttle->RateOf(1));
  EXPECT_NE(throttle->RateOf(1), throttle->RateOf(2));
  EXPECT_GE(throttle->RateOf(3), 45'000'000u);
  EXPECT_LE(throttle->RateOf(3), 110'000'000u);
  EXPECT_EQ(Under("aws-strict")->RateOf(1), 0u);
}

TEST_F(RateLimiterTest, ConcurrentRequestsDoNotExceedTheBudget) {
  const auto throttle = Under(R"({"reads_per_second": 1000, "burst_ms": 500})");
  std::atomic<int> admitted{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i) workers.emplace_back([&] { admitted += Reads(*throttle, 200); });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(admitted.load(), 500);
}

}  // namespace
}  // namespace penstock::emulator::traffic
