#include "client/s3/retry/hedge_policy.h"

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const MonotonicTime kNow{seconds(1000)};

// 97 of a hundred at `usual`, the others at ten times that.
void Teach(HedgePolicy& policy, milliseconds usual, int times = 640) {
  for (int i = 0; i < times; ++i) policy.OnFirstByte(i % 100 < 99 ? usual : usual * 10);
}

TEST(HedgePolicyTest, NothingIsHedgedBeforeEnoughIsKnown) {
  HedgePolicy policy;
  EXPECT_FALSE(policy.OnRead(kNow));
  Teach(policy, milliseconds(20), 64);
  EXPECT_FALSE(policy.OnRead(kNow)) << "64 are too few";
  Teach(policy, milliseconds(20), 64);
  EXPECT_TRUE(policy.OnRead(kNow));
}

TEST(HedgePolicyTest, PatienceCoversNearlyAllFirstBytesAndTwiceTheMedian) {
  HedgePolicy policy;
  Teach(policy, milliseconds(20));
  const auto patience = policy.OnRead(kNow);
  ASSERT_TRUE(patience);
  EXPECT_GE(*patience, milliseconds(40));
  EXPECT_LE(*patience, milliseconds(48)) << "and not the stragglers'";
}

TEST(HedgePolicyTest, QuickAnswersAreNeverHedged) {
  HedgePolicy policy;
  for (int i = 0; i < 1000; ++i)
    policy.OnFirstByte(std::chrono::microseconds(i % 50 == 0 ? 90'000 : 200));
  EXPECT_FALSE(policy.OnRead(kNow));
}

TEST(HedgePolicyTest, TheBudgetIsTwoOfAHundredReads) {
  HedgePolicy policy;
  Teach(policy, milliseconds(20));
  EXPECT_FALSE(policy.Spend());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(policy.OnRead(kNow));
  EXPECT_TRUE(policy.Spend());
  EXPECT_TRUE(policy.Spend());
  EXPECT_FALSE(policy.Spend());
  policy.Return();
  EXPECT_TRUE(policy.Spend());
}

TEST(HedgePolicyTest, NotMoreThanSoManyAreSaved) {
  HedgePolicy policy;
  Teach(policy, milliseconds(20));
  for (int i = 0; i < 10'000; ++i) policy.OnRead(kNow);
  int hedges = 0;
  while (policy.Spend()) ++hedges;
  EXPECT_EQ(hedges, HedgePolicy::kMostSaved);
}

TEST(HedgePolicyTest, ThrottlingPausesIt) {
  HedgePolicy policy;
  Teach(policy, milliseconds(20));
  policy.OnThrottled(kNow);
  EXPECT_FALSE(policy.OnRead(kNow + seconds(4)));
  EXPECT_TRUE(policy.OnRead(kNow + seconds(6)));
}

TEST(HedgePolicyTest, OldTimesAreForgotten) {
  HedgePolicy policy;
  Teach(policy, milliseconds(200), 6'400);
  Teach(policy, milliseconds(10), 128'000);
  EXPECT_LE(policy.OnRead(kNow), milliseconds(24));
}

}  // namespace
}  // namespace penstock::s3
