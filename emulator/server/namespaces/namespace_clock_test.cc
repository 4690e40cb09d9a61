#include "emulator/server/namespaces/namespace_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "base/dates.h"
#include "base/fake_clock.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class NamespaceClockTest : public testing::Test {
 protected:
  FakeClock machine_;
  NamespaceClock clock_{machine_};
};

TEST_F(NamespaceClockTest, ShowsTheMachinesTimeByDefault) {
  EXPECT_EQ(clock_.Now(), machine_.Now());
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), machine_.Now());
  EXPECT_FALSE(clock_.State().frozen);
  EXPECT_EQ(clock_.State().offset, std::chrono::nanoseconds(0));
}

TEST_F(NamespaceClockTest, AdvancesAndContinues) {
  ASSERT_TRUE(clock_.Change({.advance = hours(2)}).ok());
  EXPECT_EQ(clock_.Now(), machine_.Now() + hours(2));
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), machine_.Now() + hours(2));
  EXPECT_EQ(clock_.State().offset, hours(2));
}

TEST_F(NamespaceClockTest, SetTimeContinues) {
  const WallTime party = *ParseIso8601("1999-12-31T23:59:59Z");
  ASSERT_TRUE(clock_.Change({.now = party}).ok());
  machine_.Advance(seconds(2));
  EXPECT_EQ(FormatIso8601(clock_.Now()), "2000-01-01T00:00:01.000Z");
}

TEST_F(NamespaceClockTest, FrozenClockMovesOnlyWhenAdvanced) {
  const WallTime start = clock_.Now();
  ASSERT_TRUE(clock_.Change({.frozen = true}).ok());
  machine_.Advance(hours(1));
  EXPECT_EQ(clock_.Now(), start);
  ASSERT_TRUE(clock_.Change({.advance = seconds(10)}).ok());
  EXPECT_EQ(clock_.Now(), start + seconds(10));
  EXPECT_TRUE(clock_.State().frozen);
}

TEST_F(NamespaceClockTest, ResumesFromTheFrozenTime) {
  const WallTime start = clock_.Now();
  ASSERT_TRUE(clock_.Change({.frozen = true}).ok());
  machine_.Advance(hours(1));
  ASSERT_TRUE(clock_.Change({.frozen = false}).ok());
  EXPECT_EQ(clock_.Now(), start);
  machine_.Advance(seconds(3));
  EXPECT_EQ(clock_.Now(), start + seconds(3));
}

TEST_F(NamespaceClockTest, RestoreReturnsToTheMachinesTime) {
  ASSERT_TRUE(clock_.Change({.advance = hours(2), .frozen = true}).ok());
  clock_.Restore();
  EXPECT_EQ(clock_.Now(), machine_.Now());
}

TEST_F(NamespaceClockTest, RateAppliesFromNowOn) {
  const WallTime start = clock_.Now();
  machine_.Advance(seconds(100));
  ASSERT_TRUE(clock_.Change({.rate = 60}).ok());
  EXPECT_EQ(clock_.Now(), start + seconds(100)) << "the time must not jump";
  machine_.Advance(seconds(10));
  EXPECT_EQ(clock_.Now(), start + seconds(700));
  ASSERT_TRUE(clock_.Change({.rate = 0.5}).ok());
  EXPECT_EQ(clock_.Now(), start + seconds(700));
  machine_.Advance(seconds(10));
  EXPECT_EQ(clock_.Now(), start + seconds(705));
  EXPECT_EQ(clock_.State().rate, 0.5);
  EXPECT_EQ(clock_.State().offset, seconds(585));
}

TEST_F(NamespaceClockTest, AdvancesExactlyAtAnyRate) {
  ASSERT_TRUE(clock_.Change({.rate = 1'000}).ok());
  machine_.Advance(std::chrono::nanoseconds(1));
  const WallTime before = clock_.Now();
  ASSERT_TRUE(clock_.Change({.advance = hours(1)}).ok());
  EXPECT_EQ(clock_.Now(), before + hours(1));
}

TEST_F(NamespaceClockTest, KeepsItsRateWhileFrozen) {
  const WallTime start = clock_.Now();
  ASSERT_TRUE(clock_.Change({.frozen = true, .rate = 10}).ok());
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), start);
  ASSERT_TRUE(clock_.Change({.frozen = false}).ok());
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), start + seconds(50));
  clock_.Restore();
  EXPECT_EQ(clock_.State().rate, 1);
  EXPECT_EQ(clock_.Now(), machine_.Now());
}

TEST_F(NamespaceClockTest, RefusesARateOutOfRange) {
  for (const double rate : {0.0, -1.0, 0.0009, 1'000.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(clock_.Change({.advance = hours(1), .rate = rate}).ok()) << rate;
  }
  EXPECT_EQ(clock_.Now(), machine_.Now()) << "no part of the change may be applied";
  EXPECT_TRUE(clock_.Change({.rate = 0.001}).ok());
  EXPECT_TRUE(clock_.Change({.rate = 1'000}).ok());
}

TEST_F(NamespaceClockTest, StopsAtTheEndOfItsRange) {
  ASSERT_TRUE(clock_.Change({.now = *ParseIso8601("2261-12-01T00:00:00Z"), .rate = 1'000}).ok());
  machine_.Advance(hours(24 * 365));
  EXPECT_EQ(FormatIso8601(clock_.Now()).substr(0, 4), "2261");
}

// A clock whose readers are delayed after they have read the time.
class SlowClock final : public Clock {
 public:
  WallTime Now() const override {
    const WallTime now = SystemClock().Now();
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
    return now;
  }
  MonotonicTime Monotonic() const override { return SystemClock().Monotonic(); }
};

// The time between two readings is never negative.
TEST(NamespaceClockThreadsTest, NeverRunsBackwardsWhileItsRateChanges) {
  const SlowClock machine;
  NamespaceClock clock{machine};
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> latest{0};
  std::atomic<int> backwards{0};
  const auto look = [&] {
    while (!done) {
      const std::int64_t seen = latest.load();
      const std::int64_t now =
          std::chrono::duration_cast<std::chrono::nanoseconds>(clock.Now().time_since_epoch())
              .count();
      if (now < seen) ++backwards;
      for (std::int64_t before = seen;
           before < now && !latest.compare_exchange_weak(before, now);) {
      }
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(look);
  for (int i = 0; i < 3'000; ++i)
    ASSERT_TRUE(clock.Change({.rate = i % 2 == 0 ? 1'000 : 0.001}).ok());
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(backwards.load(), 0);
}

TEST_F(NamespaceClockTest, RefusesTimesOutOfRange) {
  const WallTime before = clock_.Now();
  EXPECT_FALSE(clock_.Change({.advance = -hours(24 * 365 * 100)}).ok());
  EXPECT_FALSE(clock_.Change({.advance = hours(24 * 365 * 260), .frozen = true}).ok());
  EXPECT_EQ(clock_.Now(), before);
  EXPECT_FALSE(clock_.State().frozen);
}

TEST_F(NamespaceClockTest, DoesNotAffectDeadlines) {
  const MonotonicTime before = clock_.Monotonic();
  ASSERT_TRUE(clock_.Change({.advance = hours(2), .frozen = true}).ok());
  EXPECT_EQ(clock_.Monotonic(), before);
}

TEST_F(NamespaceClockTest, ReadsAreConsistentDuringChanges) {
  const WallTime late = machine_.Now() + hours(1000);
  ASSERT_TRUE(clock_.Change({.now = late}).ok());
  bool torn = false;
  {
    std::atomic<bool> done{false};
    const std::jthread reader([&] {
      while (!done) torn = torn || clock_.Now() < late;
    });
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(clock_.Change({.frozen = i % 2 == 0}).ok());
    done = true;
  }
  EXPECT_FALSE(torn);
}

}  // namespace
}  // namespace penstock::emulator::server
