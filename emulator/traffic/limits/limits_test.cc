#include "emulator/traffic/limits/limits.h"

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

// The rates are those of the Amazon S3 User Guide, "Best practices design patterns: optimizing
// Amazon S3 performance".
TEST(LimitsTest, PresetsHaveTheDocumentedFigures) {
  const Limits standard = PresetLimits("aws-standard").value();
  EXPECT_EQ(standard.reads_per_second, 5'500U);
  EXPECT_EQ(standard.writes_per_second, 3'500U);
  const Limits strict = PresetLimits("aws-strict").value();
  EXPECT_EQ(strict.reads_per_second * 100, standard.reads_per_second);
  EXPECT_EQ(strict.writes_per_second * 100, standard.writes_per_second);
  const Limits express = PresetLimits("aws-express").value();
  EXPECT_EQ(express.reads_per_second, 2'000'000U);
  EXPECT_EQ(express.writes_per_second, 200'000U);
  EXPECT_EQ(express.max_partitions, 1U);
}

TEST(LimitsTest, EveryPresetIsValid) {
  for (const std::string_view name : PresetNames())
    EXPECT_TRUE(CheckLimits(PresetLimits(name).value()).ok()) << name;
}

TEST(LimitsTest, UnknownPresetErrorListsAllNames) {
  EXPECT_EQ(PresetLimits("aws-fast").error().message,
            "unknown preset 'aws-fast': expected one of aws-standard, aws-strict, aws-express");
}

TEST(LimitsTest, BurstIsPartOfTheRateAndAtLeastOneRequest) {
  EXPECT_EQ(Limits{}.Burst(Traffic::kRead), 550U);
  EXPECT_EQ((Limits{.writes_per_second = 5}.Burst(Traffic::kWrite)), 1U);
}

TEST(LimitsTest, RejectsInvalidValuesAndNamesThem) {
  EXPECT_EQ(CheckLimits({.reads_per_second = 0}).error().message,
            "reads_per_second must be 1 to 4000000000 requests a second, not 0");
  EXPECT_EQ(CheckLimits({.max_partitions = 0}).error().message,
            "max_partitions must be 1 to 65536, not 0");
  EXPECT_FALSE(CheckLimits({.burst = std::chrono::milliseconds(1'001)}).ok());
  EXPECT_FALSE(CheckLimits({.split_after = std::chrono::seconds(-1)}).ok());
}

}  // namespace
}  // namespace penstock::emulator::traffic
