#include "client/s3/retry/adaptive_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const MonotonicTime kStart{seconds(1000)};

// Responses at a steady 10 per second for `time`, the first 0.1 s after `from`.
MonotonicTime Respond(AdaptiveRate& rate, MonotonicTime from, milliseconds time) {
  MonotonicTime now = from;
  for (; now < from + time; now += milliseconds(100))
    rate.OnResponse(false, now, now + milliseconds(100));
  return now;
}

TEST(AdaptiveRateTest, LimitsNothingBeforeTheFirstThrottlingError) {
  AdaptiveRate rate(kStart);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(rate.WaitFor(rate.Join(kStart), kStart), milliseconds(0));
  Respond(rate, kStart, seconds(2));
  EXPECT_EQ(rate.rate(), 0);
}

TEST(AdaptiveRateTest, AThrottlingErrorCutsTheMeasuredRateToSeventyPercent) {
  AdaptiveRate rate(kStart);
  const MonotonicTime now = Respond(rate, kStart, seconds(10));
  rate.OnResponse(true, now, now);
  EXPECT_NEAR(rate.rate(), 7, 0.8) << "of 10 per second";
}

TEST(AdaptiveRateTest, GrowsBackAlongCubicUpToTwiceTheMeasuredRate) {
  AdaptiveRate rate(kStart);
  MonotonicTime now = Respond(rate, kStart, seconds(10));
  rate.OnResponse(true, now, now);
  const double w_max = rate.rate() / 0.7;
  const double k = std::cbrt(w_max * 0.3 / 0.4);
  const auto after = std::chrono::milliseconds(static_cast<int>(k * 1000));
  now = Respond(rate, now, after);
  EXPECT_NEAR(rate.rate(), w_max, 0.1) << "the plateau, k seconds after the failure";
  now = Respond(rate, now, seconds(20));
  EXPECT_LE(rate.rate(), 2 * 10.5);
  EXPECT_GT(rate.rate(), 15);
}

TEST(AdaptiveRateTest, NeverBelowHalfARequestPerSecond) {
  AdaptiveRate rate(kStart);
  for (int i = 0; i < 50; ++i) rate.OnResponse(true, kStart, kStart + seconds(i));
  EXPECT_EQ(rate.rate(), 0.5);
}

TEST(AdaptiveRateTest, TurnsAreAdmittedAtTheRate) {
  AdaptiveRate rate(kStart);
  for (int i = 0; i < 50; ++i) rate.OnResponse(true, kStart, kStart + seconds(i));
  const MonotonicTime now = kStart + seconds(60);
  const Turn first = rate.Join(now);
  const Turn second = rate.Join(now);
  EXPECT_EQ(rate.WaitFor(first, now), milliseconds(0)) << "a token was saved";
  EXPECT_EQ(rate.WaitFor(second, now), seconds(1))
      << "two seconds, but the caller must ask again after one";
  EXPECT_GT(rate.WaitFor(second, now + milliseconds(1900)), milliseconds(0));
  EXPECT_EQ(rate.WaitFor(second, now + milliseconds(2000)), milliseconds(0));
}

TEST(AdaptiveRateTest, LeavingTheQueueAdmitsTheNextRequest) {
  AdaptiveRate rate(kStart);
  for (int i = 0; i < 50; ++i) rate.OnResponse(true, kStart, kStart + seconds(i));
  const MonotonicTime now = kStart + seconds(60);
  const Turn first = rate.Join(now);
  const Turn second = rate.Join(now);
  EXPECT_GT(rate.WaitFor(second, now), milliseconds(0));
  rate.Leave(first, now);
  EXPECT_EQ(rate.WaitFor(second, now), milliseconds(0));
}

}  // namespace
}  // namespace penstock::s3
