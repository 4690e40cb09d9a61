#include "client/s3/retry/hedge_policy.h"

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const MonotonicTime kNow{seconds(1000)};

// 97 % at `usual`, the others at ten times that.
void RecordTimes(HedgePolicy& policy, milliseconds usual, int times = 640) {
  for (int i = 0; i < times; ++i) policy.OnFirstByte(i % 100 < 99 ? usual : usual * 10);
}

TEST(HedgePolicyTest, HedgesNothingWithTooFewSamples) {
  HedgePolicy policy;
  EXPECT_FALSE(policy.OnRead(kNow));
  RecordTimes(policy, milliseconds(20), 64);
  EXPECT_FALSE(policy.OnRead(kNow)) << "64 are too few";
  RecordTimes(policy, milliseconds(20), 64);
  EXPECT_TRUE(policy.OnRead(kNow));
}

TEST(HedgePolicyTest, DelayCoversNearlyAllFirstBytesAndTwiceTheMedian) {
  HedgePolicy policy;
  RecordTimes(policy, milliseconds(20));
  const auto delay = policy.OnRead(kNow);
  ASSERT_TRUE(delay);
  EXPECT_GE(*delay, milliseconds(40));
  EXPECT_LE(*delay, milliseconds(48)) << "and not the slow ones'";
}

TEST(HedgePolicyTest, FastResponsesAreNeverHedged) {
  HedgePolicy policy;
  for (int i = 0; i < 1000; ++i)
    policy.OnFirstByte(std::chrono::microseconds(i % 50 == 0 ? 90'000 : 200));
  EXPECT_FALSE(policy.OnRead(kNow));
}

TEST(HedgePolicyTest, TheBudgetIsTwoPercentOfReads) {
  HedgePolicy policy;
  RecordTimes(policy, milliseconds(20));
  EXPECT_FALSE(policy.Spend());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(policy.OnRead(kNow));
  EXPECT_TRUE(policy.Spend());
  EXPECT_TRUE(policy.Spend());
  EXPECT_FALSE(policy.Spend());
  policy.Return();
  EXPECT_TRUE(policy.Spend());
}

TEST(HedgePolicyTest, SavedHedgesHaveALimit) {
  HedgePolicy policy;
  RecordTimes(policy, milliseconds(20));
  for (int i = 0; i < 10'000; ++i) policy.OnRead(kNow);
  int hedges = 0;
  while (policy.Spend()) ++hedges;
  EXPECT_EQ(hedges, HedgePolicy::kMaxSavedHedges);
}

TEST(HedgePolicyTest, ThrottlingPausesHedging) {
  HedgePolicy policy;
  RecordTimes(policy, milliseconds(20));
  policy.OnThrottled(kNow);
  EXPECT_FALSE(policy.OnRead(kNow + seconds(4)));
  EXPECT_TRUE(policy.OnRead(kNow + seconds(6)));
}

TEST(HedgePolicyTest, OldTimesAreForgotten) {
  HedgePolicy policy;
  RecordTimes(policy, milliseconds(200), 6'400);
  RecordTimes(policy, milliseconds(10), 128'000);
  EXPECT_LE(policy.OnRead(kNow), milliseconds(24));
}

}  // namespace
}  // namespace penstock::s3
