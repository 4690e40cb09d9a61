#include "emulator/traffic/throttle_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::emulator::traffic {
namespace {

TEST(ThrottleSettingsTest, HasNoLimitsByDefault) {
  const ThrottleSettings settings = ParseThrottleSettings("{}").value();
  EXPECT_TRUE(settings.idle());
  EXPECT_EQ(settings.LimitsOf("any"), nullptr);
}

TEST(ThrottleSettingsTest, AcceptsThePlainNameOfAPreset) {
  const ThrottleSettings settings = ParseThrottleSettings("aws-strict").value();
  ASSERT_NE(settings.LimitsOf("any"), nullptr);
  EXPECT_EQ(settings.LimitsOf("any")->writes_per_second, 35u);
  EXPECT_EQ(settings.LimitsOf("shard--use1-az4--x-s3")->writes_per_second, 200'000u)
      << "directory buckets have their own preset";
  EXPECT_EQ(settings.document, R"({"preset":"aws-strict"})");
  EXPECT_FALSE(settings.shaped);
}

TEST(ThrottleSettingsTest, MembersOverrideThePreset) {
  const ThrottleSettings settings =
      ParseThrottleSettings(R"({"preset": "aws-strict", "reads_per_second": 7})").value();
  EXPECT_EQ(settings.general->reads_per_second, 7u);
  EXPECT_EQ(settings.general->writes_per_second, 35u);
}

TEST(ThrottleSettingsTest, BucketMayHaveItsOwnLimitsAndPartitions) {
  const ThrottleSettings settings =
      ParseThrottleSettings(
          R"({"preset": "aws-strict", "buckets": {"hot": {"writes_per_second": 3, "boundaries": ["t", "m", "m"]}}})")
          .value();
  const auto& hot = settings.buckets.at("hot");
  EXPECT_EQ(hot.limits.writes_per_second, 3u);
  EXPECT_EQ(hot.limits.reads_per_second, 55u) << "inherited from the namespace";
  EXPECT_EQ(hot.boundaries, (std::vector<std::string>{"m", "t"}));
  EXPECT_EQ(settings.LimitsOf("hot")->writes_per_second, 3u);
  EXPECT_EQ(settings.LimitsOf("cool")->writes_per_second, 35u);
}

TEST(ThrottleSettingsTest, LimitsMayApplyToOneBucketOnly) {
  const ThrottleSettings settings = ParseThrottleSettings(R"({"buckets": {"hot": {}}})").value();
  EXPECT_EQ(settings.LimitsOf("hot")->reads_per_second, 5'500u);
  EXPECT_EQ(settings.LimitsOf("cool"), nullptr);
}

TEST(ThrottleSettingsTest, LatencyIsAProfileOrConstants) {
  EXPECT_EQ(ParseThrottleSettings(R"({"latency": "s3-express", "seed": 9})").value().latency.name,
            "s3-express");
  const ThrottleSettings constant =
      ParseThrottleSettings(R"({"latency": {"first_byte_ms": 30, "bytes_per_second": 90000000}})")
          .value();
  EXPECT_TRUE(constant.shaped);
  EXPECT_EQ(FirstByte(constant.latency.get, {0.3, 0.2, 0.1, 0.9}), std::chrono::milliseconds(30));
  EXPECT_EQ(ConnectionRate(constant.latency, {0.9, 0.1, 0.5, 0.5}), 90'000'000u);
  EXPECT_TRUE(ParseThrottleSettings(R"({"latency": "none"})").value().idle());
}

std::string BucketsWith(std::size_t boundaries) {
  std::string text;
  for (std::size_t left = boundaries, bucket = 0; left > 0; ++bucket) {
    const std::size_t count = std::min<std::size_t>(left, 4'000);
    text += (bucket == 0 ? "\"b" : ",\"b") + std::to_string(bucket) + R"(": {"boundaries": ["0")";
    for (std::size_t i = 1; i < count; ++i) text += ",\"" + std::to_string(i) + "\"";
    text += "]}";
    left -= count;
  }
  return R"({"buckets": {)" + text + "}}";
}

TEST(ThrottleSettingsTest, BoundsTheBoundariesOfAllBuckets) {
  const auto most = ParseThrottleSettings(BucketsWith(kMaxBoundaries));
  ASSERT_TRUE(most.ok()) << most.error().message;
  const auto more = ParseThrottleSettings(BucketsWith(kMaxBoundaries + 1));
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().message,
            "buckets: have 65537 boundaries together, and the limit is 65536; give fewer "
            "boundaries, or limit fewer buckets");
}

TEST(ThrottleSettingsTest, CountsItsMemory) {
  const ThrottleSettings none = ParseThrottleSettings("{}").value();
  EXPECT_LT(none.SettingsBytes() + none.PartitionBytes(), 16u);
  const ThrottleSettings some = ParseThrottleSettings(BucketsWith(10'000)).value();
  EXPECT_GT(some.SettingsBytes(), 10'000 * (sizeof(std::string) + 8));
  EXPECT_GT(some.PartitionBytes(), 10'000u * 300);
  EXPECT_LT(some.SettingsBytes() + some.PartitionBytes(), 10'000u * 500);
  const ThrottleSettings long_key = ParseThrottleSettings(R"({"buckets": {"b": {"boundaries": [")" +
                                                          std::string(1'000'000, 'k') + R"("]}}})")
                                        .value();
  EXPECT_GT(long_key.SettingsBytes(), 2'000'000u) << "the key, and the document with it";
  EXPECT_GT(long_key.PartitionBytes(), 1'000'000u);
}

TEST(ThrottleSettingsTest, ErrorsNameTheMember) {
  const auto problem = [](std::string_view text) {
    auto parsed = ParseThrottleSettings(text);
    return parsed.ok() ? std::string("none") : parsed.error().message;
  };
  EXPECT_NE(problem("aws-lax").find("JSON"), std::string::npos);
  EXPECT_NE(problem(R"({"preset": "aws-lax"})").find("preset: unknown preset 'aws-lax'"),
            std::string::npos);
  EXPECT_NE(problem(R"({"buckets": {"b": {"writes_per_second": 0}}})")
                .find("buckets.b: writes_per_second must be 1 to 4000000000"),
            std::string::npos);
  EXPECT_NE(
      problem(R"({"buckets": {"b": {"boundaries": ["", "x"]}}})").find("buckets.b.boundaries"),
      std::string::npos);
  EXPECT_NE(
      problem(R"({"buckets": {"b--x-s3": {"boundaries": ["x"]}}})").find("max_partitions is 1"),
      std::string::npos);
  EXPECT_NE(problem(R"({"latency": {"first_byte_ms": -1}})").find("latency.first_byte_ms"),
            std::string::npos);
  EXPECT_NE(problem(R"({"latency": 3})").find("latency"), std::string::npos);
  EXPECT_NE(problem(R"({"retry_after_ms": 60001})").find("retry_after_ms"), std::string::npos);
  EXPECT_NE(problem(R"({"limit": 1})").find("limit"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::traffic
