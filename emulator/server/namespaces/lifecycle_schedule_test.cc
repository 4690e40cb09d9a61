#include "emulator/server/namespaces/lifecycle_schedule.h"

#include <gtest/gtest.h>

#include "base/dates.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

ClockState At(std::string_view time, double rate = 1, bool frozen = false) {
  return {.now = *ParseIso8601(time), .frozen = frozen, .rate = rate};
}

TEST(LifecycleScheduleTest, TheFirstRunIsDueAtOnce) {
  EXPECT_EQ(LifecycleSchedule().UntilRun(At("2026-01-01T00:00:00Z")), nanoseconds(0));
}

TEST(LifecycleScheduleTest, TheNextRunIsDueAtMidnightOfTheClock) {
  LifecycleSchedule schedule;
  schedule.Begin(*ParseIso8601("2026-01-01T20:00:00Z"));
  const auto wait = schedule.UntilRun(At("2026-01-01T22:00:00Z"));
  ASSERT_TRUE(wait);
  EXPECT_GE(*wait, hours(2));
  EXPECT_LT(*wait, hours(2) + seconds(1));
  const auto fast = schedule.UntilRun(At("2026-01-01T22:00:00Z", 100));
  ASSERT_TRUE(fast);
  EXPECT_GE(*fast, seconds(72));
  EXPECT_LT(*fast, seconds(73));
  EXPECT_EQ(schedule.UntilRun(At("2026-01-02T00:00:00Z")), nanoseconds(0));
}

TEST(LifecycleScheduleTest, AFrozenClockHasNoNextRunUntilItIsMoved) {
  LifecycleSchedule schedule;
  schedule.Begin(*ParseIso8601("2026-01-01T20:00:00Z"));
  EXPECT_FALSE(schedule.UntilRun(At("2026-01-01T22:00:00Z", 1, true)));
  EXPECT_EQ(schedule.UntilRun(At("2026-03-01T22:00:00Z", 1, true)), nanoseconds(0));
  EXPECT_EQ(schedule.UntilRun(At("2025-03-01T22:00:00Z", 1, true)), nanoseconds(0));
}

// For example if the clock moved away and back between two looks at it.
TEST(LifecycleScheduleTest, ARequestedRunIsDueAtOnce) {
  LifecycleSchedule schedule;
  schedule.Begin(*ParseIso8601("2026-01-01T20:00:00Z"));
  schedule.Request();
  EXPECT_EQ(schedule.UntilRun(At("2026-01-01T20:00:00Z", 1, true)), nanoseconds(0));
  schedule.Begin(*ParseIso8601("2026-01-01T20:00:00Z"));
  EXPECT_NE(schedule.UntilRun(At("2026-01-01T20:00:00Z")), nanoseconds(0));
}

}  // namespace
}  // namespace penstock::emulator::server
