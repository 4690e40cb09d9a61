#include "emulator/simulate/retry_policy.h"

#include "gtest/gtest.h"

namespace penstock::emulator::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RetryPolicyTest, DelayIsAShareOfADoublingBound) {
  const RetryPolicy policy = FindPolicy("crt").value();
  RetryState state(policy);
  EXPECT_EQ(state.Refused(seconds(1), 1, 0.5), Instant(milliseconds(1'250)));
  EXPECT_EQ(state.Refused(seconds(1), 2, 0.5), Instant(milliseconds(1'500)));
  EXPECT_EQ(state.Refused(seconds(1), 9, 0.5), Instant(seconds(11))) << "the bound is 20 s";
  EXPECT_EQ(state.Refused(seconds(1), 10, 0.5), std::nullopt) << "the limit is ten attempts";
}

TEST(RetryPolicyTest, LegacyHasNoBound) {
  const RetryPolicy policy = FindPolicy("legacy").value();
  RetryState state(policy);
  EXPECT_EQ(state.Refused(seconds(0), 4, 0.5), Instant(seconds(4)));
  EXPECT_EQ(state.Refused(seconds(0), 5, 0.5), std::nullopt);
}

TEST(RetryPolicyTest, EmptyQuotaStopsRetriesUntilSuccessRefillsIt) {
  const RetryPolicy policy = FindPolicy("standard").value();
  RetryState state(policy);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(state.Refused(seconds(0), 1, 0)) << i;
  EXPECT_FALSE(state.Refused(seconds(0), 1, 0)) << "500 tokens are 100 retries";
  state.Succeeded(seconds(0), 2);  // A successful retry returns its five tokens.
  EXPECT_TRUE(state.Refused(seconds(0), 1, 0));
  for (int i = 0; i < 4; ++i) state.Succeeded(seconds(0), 1);
  EXPECT_FALSE(state.Refused(seconds(0), 1, 0));
  state.Succeeded(seconds(0), 1);
  EXPECT_TRUE(state.Refused(seconds(0), 1, 0));
}

TEST(RetryPolicyTest, OnlyAPacedClientDelaysRequests) {
  const RetryPolicy standard = FindPolicy("standard").value();
  RetryState state(standard);
  state.Refused(seconds(0), 1, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(state.Send(seconds(1)), Instant(seconds(1)));
}

TEST(RetryPolicyTest, PacedClientSlowsDownTo70PercentAndThenSpeedsUp) {
  const RetryPolicy adaptive = FindPolicy("adaptive").value();
  RetryState state(adaptive);
  EXPECT_EQ(state.Send(seconds(0)), Instant(seconds(0))) << "no limit before the first rejection";
  for (int ms = 0; ms < 2'000; ms += 10) state.Succeeded(milliseconds(ms), 1);  // 100 per second.
  state.Refused(seconds(2), 1, 0);
  // Half seconds with 50 responses each, smoothed four times with 0.8 and 0.2, give 99.8. Expect 70
  // % of it.
  EXPECT_NEAR(state.rate(), 70, 2);
  Instant sent = seconds(2);
  for (int i = 0; i < 71; ++i) sent = state.Send(seconds(2));
  EXPECT_NEAR(std::chrono::duration<double>(sent - seconds(2)).count(), 1, 0.05);
  const double before = state.rate();
  for (int ms = 2'000; ms < 5'000; ms += 10) state.Succeeded(milliseconds(ms), 1);
  EXPECT_GT(state.rate(), before);
}

TEST(RetryPolicyTest, UnknownClientErrorListsAllNames) {
  EXPECT_EQ(FindPolicy("curl").error().message,
            "unknown client 'curl': expected one of legacy, standard, adaptive, crt, penstock");
  EXPECT_EQ(PolicyNames().size(), 5U);
}

}  // namespace
}  // namespace penstock::emulator::simulate
