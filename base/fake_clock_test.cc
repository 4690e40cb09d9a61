#include "base/fake_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock {
namespace {

TEST(FakeClockTest, DoesNotMoveByItself) {
  const FakeClock clock;
  EXPECT_EQ(clock.Now(), clock.Now());
  EXPECT_EQ(clock.Monotonic(), clock.Monotonic());
}

TEST(FakeClockTest, AdvanceMovesBothClocks) {
  FakeClock clock;
  const WallTime wall = clock.Now();
  const Deadline deadline = Deadline::After(clock, std::chrono::seconds(3));
  clock.Advance(std::chrono::seconds(3));
  EXPECT_EQ(clock.Now() - wall, std::chrono::seconds(3));
  EXPECT_TRUE(deadline.Passed(clock));
}

TEST(FakeClockTest, SettingTheWallClockKeepsDeadlines) {
  FakeClock clock;
  const Deadline deadline = Deadline::After(clock, std::chrono::seconds(3));
  clock.SetNow(WallTime(std::chrono::hours(24 * 365 * 100)));
  EXPECT_EQ(clock.Now(), WallTime(std::chrono::hours(24 * 365 * 100)));
  EXPECT_FALSE(deadline.Passed(clock));
}

TEST(FakeClockTest, CanBeMovedFromAnyThread) {
  FakeClock clock;
  const MonotonicTime before = clock.Monotonic();
  {
    const std::jthread other([&clock] {
      for (int i = 0; i < 1000; ++i) clock.Advance(std::chrono::milliseconds(1));
    });
    for (int i = 0; i < 1000; ++i) clock.Advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(clock.Monotonic() - before, std::chrono::seconds(2));
}

}  // namespace
}  // namespace penstock
