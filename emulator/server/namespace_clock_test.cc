#include "emulator/server/namespace_clock.h"

#include <gtest/gtest.h>

#include <thread>

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

TEST_F(NamespaceClockTest, IsTheMachinesUntilTouched) {
  EXPECT_EQ(clock_.Now(), machine_.Now());
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), machine_.Now());
  EXPECT_FALSE(clock_.State().frozen);
  EXPECT_EQ(clock_.State().offset, std::chrono::nanoseconds(0));
}

TEST_F(NamespaceClockTest, AdvancesAndGoesOn) {
  ASSERT_TRUE(clock_.Change({.advance = hours(2)}).ok());
  EXPECT_EQ(clock_.Now(), machine_.Now() + hours(2));
  machine_.Advance(seconds(5));
  EXPECT_EQ(clock_.Now(), machine_.Now() + hours(2));
  EXPECT_EQ(clock_.State().offset, hours(2));
}

TEST_F(NamespaceClockTest, ATimeThatIsSetRunsOn) {
  const WallTime party = *ParseIso8601("1999-12-31T23:59:59Z");
  ASSERT_TRUE(clock_.Change({.now = party}).ok());
  machine_.Advance(seconds(2));
  EXPECT_EQ(FormatIso8601(clock_.Now()), "2000-01-01T00:00:01.000Z");
}

TEST_F(NamespaceClockTest, FrozenItMovesOnlyWhenTold) {
  const WallTime start = clock_.Now();
  ASSERT_TRUE(clock_.Change({.frozen = true}).ok());
  machine_.Advance(hours(1));
  EXPECT_EQ(clock_.Now(), start);
  ASSERT_TRUE(clock_.Change({.advance = seconds(10)}).ok());
  EXPECT_EQ(clock_.Now(), start + seconds(10));
  EXPECT_TRUE(clock_.State().frozen);
}

TEST_F(NamespaceClockTest, ResumesFromWhereItStood) {
  const WallTime start = clock_.Now();
  ASSERT_TRUE(clock_.Change({.frozen = true}).ok());
  machine_.Advance(hours(1));
  ASSERT_TRUE(clock_.Change({.frozen = false}).ok());
  EXPECT_EQ(clock_.Now(), start);
  machine_.Advance(seconds(3));
  EXPECT_EQ(clock_.Now(), start + seconds(3));
}

TEST_F(NamespaceClockTest, RestoreGivesTheMachinesTimeBack) {
  ASSERT_TRUE(clock_.Change({.advance = hours(2), .frozen = true}).ok());
  clock_.Restore();
  EXPECT_EQ(clock_.Now(), machine_.Now());
}

TEST_F(NamespaceClockTest, RefusesToLeaveItsYears) {
  const WallTime before = clock_.Now();
  EXPECT_FALSE(clock_.Change({.advance = -hours(24 * 365 * 100)}).ok());
  EXPECT_FALSE(clock_.Change({.advance = hours(24 * 365 * 260), .frozen = true}).ok());
  EXPECT_EQ(clock_.Now(), before);
  EXPECT_FALSE(clock_.State().frozen);
}

TEST_F(NamespaceClockTest, DeadlinesDoNotNotice) {
  const MonotonicTime before = clock_.Monotonic();
  ASSERT_TRUE(clock_.Change({.advance = hours(2), .frozen = true}).ok());
  EXPECT_EQ(clock_.Monotonic(), before);
}

TEST_F(NamespaceClockTest, IsNeverTornBetweenFreezingAndRunning) {
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
