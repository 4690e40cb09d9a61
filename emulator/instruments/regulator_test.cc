#include "emulator/instruments/regulator.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/fake_clock.h"

namespace penstock::emulator::instruments {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using traffic::Traffic;

class RegulatorTest : public testing::Test {
 protected:
  std::shared_ptr<Regime> Under(std::string_view text) {
    regulator_.Set(ParseThrottleSettings(text).value());
    return regulator_.Current();
  }
  // How many of `count` reads are admitted.
  static int Reads(Regime& regime, int count, std::string_view key = "k", std::string_view bucket = "b") {
    int admitted = 0;
    for (int i = 0; i < count; ++i) admitted += regime.Admit(bucket, key, Traffic::kRead) ? 1 : 0;
    return admitted;
  }
  FakeClock clock_;
  Regulator regulator_{clock_};
};

TEST_F(RegulatorTest, HasNothingToSayWithoutSettings) {
  EXPECT_EQ(regulator_.Current(), nullptr);
  EXPECT_EQ(regulator_.Report().document, "{}");
  EXPECT_NE(Under("aws-strict"), nullptr);
  EXPECT_EQ(Under("{}"), nullptr);
}

// 10 a second and a burst of 400 ms: 4 tokens at first, 1 each 100 ms.
TEST_F(RegulatorTest, GivesTokensInTheClocksTime) {
  const auto regime = Under(R"({"reads_per_second": 10, "burst_ms": 400})");
  EXPECT_EQ(Reads(*regime, 6), 4);
  clock_.Advance(milliseconds(99));
  EXPECT_EQ(Reads(*regime, 1), 0);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Reads(*regime, 2), 1);
  clock_.Advance(seconds(60));
  EXPECT_EQ(Reads(*regime, 9), 4) << "no more than a burst";
  const RegimeReport report = regime->Report();
  EXPECT_EQ(report.admitted, 9u);
  EXPECT_EQ(report.refused, 9u);
}

TEST_F(RegulatorTest, BucketsDoNotShare) {
  const auto regime = Under(R"({"reads_per_second": 1, "buckets": {"rich": {"reads_per_second": 50}}})");
  EXPECT_EQ(Reads(*regime, 3, "k", "one"), 1);
  EXPECT_EQ(Reads(*regime, 3, "k", "other"), 1);
  EXPECT_EQ(Reads(*regime, 9, "k", "rich"), 5);
}

TEST_F(RegulatorTest, ABucketBeginsWithThePartitionsItWasGiven) {
  const auto regime = Under(R"({"reads_per_second": 1, "buckets": {"b": {"boundaries": ["m"]}}})");
  EXPECT_EQ(Reads(*regime, 3, "a"), 1);
  EXPECT_EQ(Reads(*regime, 3, "z"), 1);
  const RegimeReport report = regime->Report();
  ASSERT_EQ(report.buckets.size(), 1u);
  ASSERT_EQ(report.buckets[0].partitions.size(), 2u);
  EXPECT_EQ(report.buckets[0].partitions[1].begin, "m");
  EXPECT_EQ(report.buckets[0].partitions[1].reads.refused, 2u);
}

TEST_F(RegulatorTest, AClockThatIsSetBackGoesOnFromThere) {
  const auto regime = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*regime, 2), 1);
  clock_.SetNow(clock_.Now() - std::chrono::hours(24 * 365));
  EXPECT_EQ(Reads(*regime, 1), 0) << "nothing is gained by that";
  clock_.Advance(seconds(1));
  EXPECT_EQ(Reads(*regime, 1), 1);
}

TEST_F(RegulatorTest, AClockThatGoesBackAndForthByCenturiesGoesOnAllTheSame) {
  const auto regime = Under(R"({"reads_per_second": 1})");
  const WallTime now = clock_.Now();
  EXPECT_EQ(Reads(*regime, 2), 1);
  for (int turn = 0; turn < 8; ++turn) {
    clock_.SetNow(now + std::chrono::years(200));
    EXPECT_EQ(Reads(*regime, 2), 1) << "full once, in turn " << turn;
    clock_.SetNow(now);
    EXPECT_EQ(Reads(*regime, 1), 0);
    clock_.Advance(seconds(1));
    EXPECT_EQ(Reads(*regime, 2), 1) << turn;
  }
}

TEST_F(RegulatorTest, TellsWhenAPartitionSplitByTheClock) {
  const auto regime = Under(R"({"reads_per_second": 2, "burst_ms": 500, "split_after_s": 3})");
  const auto load = [&] {
    for (int i = 0; i < 2; ++i) {
      Reads(*regime, 1, "a");
      Reads(*regime, 1, "z");
    }
    clock_.Advance(seconds(1));
  };
  for (int second = 0; second < 6; ++second) load();
  const RegimeReport report = regime->Report();
  ASSERT_EQ(report.buckets.at(0).events.size(), 1u);
  EXPECT_EQ(report.buckets[0].events[0].what.boundary, "z");
  EXPECT_EQ(report.buckets[0].events[0].at, clock_.Now() - seconds(3));
  EXPECT_EQ(report.buckets[0].partitions.size(), 2u);
}

TEST_F(RegulatorTest, NewSettingsBeginWithFullBudgets) {
  const auto old = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*old, 2), 1);
  const auto regime = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*regime, 2), 1);
  EXPECT_EQ(regulator_.Report().refused, 1u);
}

TEST_F(RegulatorTest, KeepsABoundedNumberOfBuckets) {
  const auto regime = Under(R"({"reads_per_second": 1})");
  EXPECT_EQ(Reads(*regime, 2, "k", "first"), 1);
  for (std::size_t i = 0; i < Regime::kMostBuckets; ++i) Reads(*regime, 1, "k", std::to_string(i));
  EXPECT_EQ(regime->Report().buckets.size(), Regime::kMostBuckets);
  EXPECT_EQ(regime->Report().admitted, Regime::kMostBuckets + 1) << "what was dropped is still counted";
  EXPECT_EQ(Reads(*regime, 2, "k", "first"), 1) << "it begins anew";
}

TEST_F(RegulatorTest, DrawsTheSameForTheSameSeed) {
  const auto draws = [&](std::string_view text) {
    const auto regime = Under(text);
    return std::vector<traffic::Draw>{regime->DrawFor("a"), regime->DrawFor("b"), regime->DrawFor("a")};
  };
  const auto first = draws(R"({"latency": "s3-standard", "seed": 5})");
  EXPECT_EQ(draws(R"({"latency": "s3-standard", "seed": 5})"), first);
  EXPECT_NE(draws(R"({"latency": "s3-standard", "seed": 6})"), first);
  EXPECT_NE(first[0], first[2]) << "a retry draws again";
}

TEST_F(RegulatorTest, ThreadsChangeNothingOfTheDraws) {
  const auto draws = [&](int threads) {
    const auto regime = Under(R"({"latency": "s3-standard"})");
    Mutex mutex;
    std::multiset<traffic::Draw> drawn;
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([&] {
        for (int i = 0; i < 800 / threads; ++i) {
          const traffic::Draw draw = regime->DrawFor(std::to_string(i % 7));
          const MutexLock lock(mutex);
          drawn.insert(draw);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    return drawn;
  };
  // 8 workers of 100 draws: 0 and 1 come 8 times 15, the others 8 times 14. One worker of 800: 115 and 114.
  EXPECT_EQ(draws(8), draws(8));
}

TEST_F(RegulatorTest, AConnectionKeepsItsRate) {
  const auto regime = Under(R"({"latency": "s3-standard"})");
  EXPECT_EQ(regime->RateOf(1), regime->RateOf(1));
  EXPECT_NE(regime->RateOf(1), regime->RateOf(2));
  EXPECT_GE(regime->RateOf(3), 45'000'000u);
  EXPECT_LE(regime->RateOf(3), 110'000'000u);
  EXPECT_EQ(Under("aws-strict")->RateOf(1), 0u);
}

TEST_F(RegulatorTest, ManyThreadsTakeNoMoreThanThereIs) {
  const auto regime = Under(R"({"reads_per_second": 1000, "burst_ms": 500})");
  std::atomic<int> admitted{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i) workers.emplace_back([&] { admitted += Reads(*regime, 200); });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(admitted.load(), 500);
}

}  // namespace
}  // namespace penstock::emulator::instruments
