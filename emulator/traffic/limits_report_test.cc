#include "emulator/traffic/limits_report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/fake_clock.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::traffic {
namespace {

TEST(LimitsReportTest, ReportsSettingsAndCounters) {
  const FakeClock clock;
  RateLimiter limiter(clock);
  limiter.Set(
      ParseThrottleSettings(R"({"writes_per_second": 10, "buckets": {"b": {"boundaries": ["m"]}}})")
          .value());
  EXPECT_TRUE(limiter.Current()->Admit("b", "a", Traffic::kWrite));
  EXPECT_FALSE(limiter.Current()->Admit("b", "a", Traffic::kWrite));
  const Json report = ParseJson(LimitsReportJson("default", limiter.Report()).value()).value();
  EXPECT_EQ(report.at("namespace"), "default");
  EXPECT_EQ(report.at("limits").at("writes_per_second"), 10);
  EXPECT_EQ(report.at("admitted"), 1);
  EXPECT_EQ(report.at("refused"), 1);
  const Json& bucket = report.at("buckets").at(0);
  EXPECT_EQ(bucket.at("name"), "b");
  EXPECT_EQ(bucket.at("limits").at("reads_per_second"), 5'500);
  EXPECT_EQ(bucket.at("limits").at("split_after_s"), 1'800.0);
  EXPECT_EQ(bucket.at("partitions").at(0).at("end"), "m");
  EXPECT_EQ(bucket.at("partitions").at(0).at("writes").at("refused"), 1);
  EXPECT_EQ(bucket.at("partitions").at(1).at("writes").at("tokens"), 1);
}

TEST(LimitsReportTest, ReportsSplitsInTheClocksTime) {
  ThrottleReport report{.document = "{}"};
  report.buckets.push_back({.name = "b"});
  report.buckets[0].events.push_back(
      {FakeClock().Now(), {.boundary = "k\xff", .whole = 1, .left = 2, .right = 3}});
  const Json event = ParseJson(LimitsReportJson("n", report).value())
                         .value()
                         .at("buckets")
                         .at(0)
                         .at("events")
                         .at(0);
  EXPECT_EQ(event.at("at"), "2013-05-24T00:00:00.000Z");
  EXPECT_EQ(event.at("kind"), "split");
  EXPECT_EQ(event.at("right"), 3);
  EXPECT_EQ(event.at("boundary"), "k\xEF\xBF\xBD") << "valid text, even if the key is not UTF-8";
}

TEST(LimitsReportTest, EndsWhenTheEmulatorStops) {
  const FakeClock clock;
  RateLimiter limiter(clock);
  limiter.Set(ParseThrottleSettings("aws-strict").value());
  EXPECT_TRUE(limiter.Current()->Admit("b", "a", Traffic::kWrite));
  const std::atomic<bool> stop{true};
  EXPECT_TRUE(limiter.Report(&stop).buckets.empty());
  const auto report = LimitsReportJson("n", limiter.Report(), &stop);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kUnavailable);
}

TEST(LimitsReportTest, PartitionsShareTheirBoundaries) {
  const FakeClock clock;
  RateLimiter limiter(clock);
  limiter.Set(
      ParseThrottleSettings(R"({"buckets": {"b": {"boundaries": ["a", "q\"", "z"]}}})").value());
  EXPECT_TRUE(limiter.Current()->Admit("b", "m", Traffic::kRead));
  const Json report = ParseJson(LimitsReportJson("n", limiter.Report()).value()).value();
  const Json& partitions = report.at("buckets").at(0).at("partitions");
  ASSERT_EQ(partitions.size(), 4u);
  const std::vector<std::string> keys = {"", "a", "q\"", "z", ""};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(partitions.at(i).at("id"), i);
    EXPECT_EQ(partitions.at(i).at("begin"), keys[i]);
    EXPECT_EQ(partitions.at(i).at("end"), keys[i + 1]);
  }
}

}  // namespace
}  // namespace penstock::emulator::traffic
