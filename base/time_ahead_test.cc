#include "base/time_ahead.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr WallTime kLast = WallTime::max() - days(1);

TEST(TimeAheadTest, AddsPositiveAndNegativeOffsets) {
  const WallTime now{hours(1'000)};
  EXPECT_EQ(TimeAhead(now, hours(5)), WallTime(hours(1'005)));
  EXPECT_EQ(TimeAhead(now, hours(0)), now);
  EXPECT_EQ(TimeAhead(now, hours(-5'000)), WallTime(hours(-4'000)));
}

TEST(TimeAheadTest, StaysADayBeforeTheEndOfTheClock) {
  EXPECT_EQ(TimeAhead(kLast - hours(1), hours(1)), kLast);
  EXPECT_EQ(TimeAhead(kLast - hours(1), hours(2)), kLast);
  EXPECT_EQ(TimeAhead(kLast, days(3'650)), kLast);
  EXPECT_EQ(TimeAhead(WallTime::max(), hours(1)), kLast);
  EXPECT_EQ(TimeAhead(WallTime{}, std::chrono::nanoseconds::max()), kLast);
}

}  // namespace
}  // namespace penstock
