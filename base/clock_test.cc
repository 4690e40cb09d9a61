#include "penstock/base/clock.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

class FixedClock final : public Clock {
 public:
  WallTime Now() const override { return WallTime{}; }
  MonotonicTime Monotonic() const override { return now; }
  MonotonicTime now{std::chrono::seconds(100)};
};

TEST(DeadlineTest, NeverDoesNotPass) {
  const FixedClock clock;
  EXPECT_FALSE(Deadline::Never().Passed(clock));
  EXPECT_EQ(Deadline::Never().Left(clock), std::chrono::nanoseconds::max());
}

TEST(DeadlineTest, PassesAtItsTime) {
  FixedClock clock;
  const Deadline deadline = Deadline::After(clock, std::chrono::seconds(5));
  EXPECT_EQ(deadline.Left(clock), std::chrono::seconds(5));
  EXPECT_FALSE(deadline.Passed(clock));
  clock.now += std::chrono::seconds(5);
  EXPECT_TRUE(deadline.Passed(clock));
  EXPECT_EQ(deadline.Left(clock), std::chrono::nanoseconds::zero());
}

TEST(DeadlineTest, HugeDurationIsNever) {
  const FixedClock clock;
  EXPECT_TRUE(Deadline::After(clock, std::chrono::nanoseconds::max()).IsNever());
}

TEST(DeadlineTest, MinTakesTheEarlier) {
  const FixedClock clock;
  const Deadline soon = Deadline::After(clock, std::chrono::seconds(1));
  EXPECT_EQ(Deadline::Never().Min(soon).when(), soon.when());
  EXPECT_EQ(soon.Min(Deadline::Never()).when(), soon.when());
}

}  // namespace
}  // namespace penstock
