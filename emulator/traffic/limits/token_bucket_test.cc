#include "emulator/traffic/limits/token_bucket.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The trace was computed by hand: 10 tokens per second are one every 100 ms, with a burst of three.
TEST(TokenBucketTest, FollowsATraceComputedByHand) {
  TokenBucket bucket(10, 3);
  struct Step {
    int at_ms;
    bool admitted;
  };
  // The burst and nothing more.
  for (const Step& step : {Step{0, true}, Step{0, true}, Step{0, true}, Step{0, false},
                           // One every 100 ms.
                           Step{99, false}, Step{100, true}, Step{100, false},
                           // Fractions of a token do not add up to more.
                           Step{150, false}, Step{200, true},
                           // 3.5 tokens accrued, 3 fit.
                           Step{550, true}, Step{550, true}, Step{550, true}, Step{550, false},
                           Step{600, false}, Step{650, true}}) {  // The half token was lost.
    EXPECT_EQ(bucket.Take(milliseconds(step.at_ms)), step.admitted) << "at " << step.at_ms << " ms";
  }
}

TEST(TokenBucketTest, GrantsItsRateOverTime) {
  TokenBucket bucket(5'500, 550);
  int admitted = 0;
  for (int us = 0; us < 10'000'000; us += 50)
    admitted += bucket.Take(std::chrono::microseconds(us)) ? 1 : 0;
  EXPECT_EQ(admitted, 550 + 54'999);  // The burst, and the tokens until the last request.
}

TEST(TokenBucketTest, TimeThatRunsBackwardsStandsStill) {
  TokenBucket bucket(1, 1);
  EXPECT_TRUE(bucket.Take(seconds(100)));
  EXPECT_FALSE(bucket.Take(seconds(1)));
  EXPECT_FALSE(bucket.Take(milliseconds(100'999)));
  EXPECT_TRUE(bucket.Take(seconds(101)));
}

TEST(TokenBucketTest, LongIdleTimeFillsItWithoutOverflow) {
  TokenBucket bucket(4'000'000'000, 4'000'000'000);
  EXPECT_TRUE(bucket.Take(seconds(0)));
  EXPECT_EQ(bucket.Level(std::chrono::hours(24 * 365 * 200)), 4'000'000'000U);
}

TEST(TokenBucketTest, ReturnsTheTimeOfTheNextToken) {
  TokenBucket bucket(3, 1);
  EXPECT_EQ(bucket.Wait(seconds(0)), nanoseconds(0));
  EXPECT_TRUE(bucket.Take(seconds(0)));
  const nanoseconds wait = bucket.Wait(seconds(0));
  // Rounded up: an incomplete token is not available.
  EXPECT_EQ(wait, nanoseconds(333'333'334));
  EXPECT_FALSE(bucket.Take(wait - nanoseconds(1)));
  EXPECT_TRUE(bucket.Take(wait));
}

}  // namespace
}  // namespace penstock::emulator::traffic
