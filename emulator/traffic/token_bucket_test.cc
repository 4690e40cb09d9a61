#include "emulator/traffic/token_bucket.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The trace was made by hand: 10 tokens a second are one each 100 ms, and three are there at first.
TEST(TokenBucketTest, FollowsATraceMadeByHand) {
  TokenBucket bucket(10, 3);
  struct Step {
    int at_ms;
    bool admitted;
  };
  // the burst, and nothing more
  for (const Step& step : {Step{0, true}, Step{0, true}, Step{0, true}, Step{0, false},
                           // one each 100 ms
                           Step{99, false}, Step{100, true}, Step{100, false},
                           // halves do not add up to more
                           Step{150, false}, Step{200, true},
                           // 3.5 came, 3 fit
                           Step{550, true}, Step{550, true}, Step{550, true}, Step{550, false},
                           Step{600, false}, Step{650, true}}) {  // the half was lost with the rest
    EXPECT_EQ(bucket.Take(milliseconds(step.at_ms)), step.admitted) << "at " << step.at_ms << " ms";
  }
}

TEST(TokenBucketTest, GivesItsRateOverTime) {
  TokenBucket bucket(5'500, 550);
  int admitted = 0;
  for (int us = 0; us < 10'000'000; us += 50)
    admitted += bucket.Take(std::chrono::microseconds(us)) ? 1 : 0;
  EXPECT_EQ(admitted, 550 + 54'999);  // the burst, and what came by the last request
}

TEST(TokenBucketTest, TimeThatRunsBackwardsStandsStill) {
  TokenBucket bucket(1, 1);
  EXPECT_TRUE(bucket.Take(seconds(100)));
  EXPECT_FALSE(bucket.Take(seconds(1)));
  EXPECT_FALSE(bucket.Take(milliseconds(100'999)));
  EXPECT_TRUE(bucket.Take(seconds(101)));
}

TEST(TokenBucketTest, ALongAbsenceFillsItAndOverflowsNothing) {
  TokenBucket bucket(4'000'000'000, 4'000'000'000);
  EXPECT_TRUE(bucket.Take(seconds(0)));
  EXPECT_EQ(bucket.Level(std::chrono::hours(24 * 365 * 200)), 4'000'000'000U);
}

TEST(TokenBucketTest, SaysWhenTheNextTokenComes) {
  TokenBucket bucket(3, 1);
  EXPECT_EQ(bucket.Wait(seconds(0)), nanoseconds(0));
  EXPECT_TRUE(bucket.Take(seconds(0)));
  const nanoseconds wait = bucket.Wait(seconds(0));
  // rounded up: a token that is nearly there is not there
  EXPECT_EQ(wait, nanoseconds(333'333'334));
  EXPECT_FALSE(bucket.Take(wait - nanoseconds(1)));
  EXPECT_TRUE(bucket.Take(wait));
}

}  // namespace
}  // namespace penstock::emulator::traffic
