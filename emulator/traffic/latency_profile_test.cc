#include "emulator/traffic/latency_profile.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

constexpr int kDraws = 60'000;

// Returns sorted values in milliseconds.
std::vector<double> FirstBytes(std::string_view profile_name, Work work) {
  const LatencyProfile profile = FindProfile(profile_name).value();
  const Draws draws(42);
  std::vector<double> all;
  all.reserve(kDraws);
  for (int i = 0; i < kDraws; ++i) {
    const auto wait = FirstByte(profile.Of(work), draws.Of("k", static_cast<std::uint64_t>(i)));
    all.push_back(std::chrono::duration<double, std::milli>(wait).count());
  }
  std::sort(all.begin(), all.end());
  return all;
}

double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))];
}

// The published quantiles that the profiles are fitted to.
TEST(LatencyProfileTest, StandardGetHasThePublishedQuantiles) {
  const std::vector<double> all = FirstBytes("s3-standard", Work::kGet);
  EXPECT_NEAR(Quantile(all, 0.50), 30, 1);
  EXPECT_NEAR(Quantile(all, 0.90), 47, 1.5);
  EXPECT_NEAR(Quantile(all, 0.95), 54, 2);
  EXPECT_NEAR(Quantile(all, 0.99), 77, 5);
  EXPECT_GT(Quantile(all, 0.9985), 300);
}

TEST(LatencyProfileTest, ExpressGetHasThePublishedQuantiles) {
  const std::vector<double> all = FirstBytes("s3-express", Work::kGet);
  EXPECT_NEAR(Quantile(all, 0.50), 4.6, 0.2);
  EXPECT_NEAR(Quantile(all, 0.99), 8.0, 1);
}

TEST(LatencyProfileTest, OneOf1000WritesTakesFiveSecondsLonger) {
  const std::vector<double> all = FirstBytes("s3-standard", Work::kWrite);
  const auto late = std::count_if(all.begin(), all.end(), [](double ms) { return ms > 5'000; });
  EXPECT_NEAR(static_cast<double>(late) / kDraws, 0.001, 0.0005);
  EXPECT_NEAR(Quantile(all, 0.50), 30, 1);
}

TEST(LatencyProfileTest, ConnectionRatesDifferWithinBounds) {
  const LatencyProfile profile = FindProfile("s3-standard").value();
  const Draws draws(42);
  std::vector<std::uint64_t> rates;
  for (std::uint64_t i = 0; i < 2'001; ++i)
    rates.push_back(ConnectionRate(profile, draws.Of("connection", i)));
  std::sort(rates.begin(), rates.end());
  EXPECT_GE(rates.front(), 45'000'000U);
  EXPECT_LE(rates.back(), 110'000'000U);
  EXPECT_NEAR(static_cast<double>(rates[1'000]), 90e6, 2e6);
}

TEST(LatencyProfileTest, NoneHasNoDelayAndNoLimit) {
  const LatencyProfile none = FindProfile("none").value();
  const Draw draw = Draws(1).Of("k", 0);
  EXPECT_EQ(FirstByte(none.Of(Work::kGet), draw).count(), 0);
  EXPECT_EQ(ConnectionRate(none, draw), 0U);
}

TEST(LatencyProfileTest, UnknownNameErrorListsAllNames) {
  EXPECT_EQ(FindProfile("s3").error().message,
            "unknown latency profile 's3': expected one of none, s3-standard, s3-express");
}

}  // namespace
}  // namespace penstock::emulator::traffic
