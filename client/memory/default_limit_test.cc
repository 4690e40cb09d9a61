#include "client/memory/default_limit.h"

#include <gtest/gtest.h>

#include "penstock/memory.h"

namespace penstock::memory {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

TEST(DefaultLimitTest, IsAQuarterOfTheMachine) {
  EXPECT_EQ(DefaultLimitFor(4 * kGiB, std::nullopt), kGiB);
}

TEST(DefaultLimitTest, IsAQuarterOfTheControlGroupsLimitIfThatIsSmaller) {
  EXPECT_EQ(DefaultLimitFor(64 * kGiB, 2 * kGiB), 512 * kMiB);
  EXPECT_EQ(DefaultLimitFor(2 * kGiB, 64 * kGiB), 512 * kMiB);
}

TEST(DefaultLimitTest, IsWholeMebibytes) {
  EXPECT_EQ(DefaultLimitFor(400 * kMiB + 12345, std::nullopt), 100 * kMiB);
}

TEST(DefaultLimitTest, IsBetweenTheMinimumAndTwoGibibytes) {
  EXPECT_EQ(DefaultLimitFor(0, std::nullopt), kMinMemoryLimitBytes);
  EXPECT_EQ(DefaultLimitFor(512 * kGiB, std::nullopt), 2 * kGiB);
}

TEST(DefaultLimitTest, ReadsTheEnvironmentVariable) {
  EXPECT_EQ(ParseMemoryLimit("268435456").value(), 256 * kMiB);
  EXPECT_EQ(ParseMemoryLimit("256MiB").value(), 256 * kMiB);
  EXPECT_EQ(ParseMemoryLimit("2GiB").value(), 2 * kGiB);
  EXPECT_EQ(ParseMemoryLimit("1.5 gib").value(), 1536 * kMiB);
}

TEST(DefaultLimitTest, RejectsInvalidLimits) {
  for (const char* bad : {"lots", "1MiB", "16M", "-1", "17179869184GiB", "1000"}) {
    const auto limit = ParseMemoryLimit(bad);
    ASSERT_FALSE(limit.ok()) << bad;
    EXPECT_EQ(limit.error().message,
              "PENSTOCK_MEMORY_LIMIT must be 16777216 (16MiB) or more: a number of bytes, or a "
              "number with a unit, for example 512MiB; not `" +
                  std::string(bad) + "`");
    EXPECT_EQ(limit.error().setting, "memory_limit");
  }
}

TEST(DefaultLimitTest, SetMemoryLimitChecksAndAppliesTheLimit) {
  const std::uint64_t before = MemoryLimit();
  ASSERT_TRUE(SetMemoryLimit(48 * kMiB).ok());
  EXPECT_EQ(MemoryLimit(), 48 * kMiB);
  EXPECT_EQ(MemoryBudget::PerProcess().limit(), 48 * kMiB);
  const auto refused = SetMemoryLimit(1000);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "the memory limit must be 16777216 bytes (16 MiB) or more, not 1000");
  EXPECT_EQ(MemoryLimit(), 48 * kMiB);
  ASSERT_TRUE(SetMemoryLimit(before).ok());
}

TEST(DefaultLimitTest, ThisMachineHasALimit) {
  EXPECT_GE(DefaultMemoryLimit(), kMinMemoryLimitBytes);
  EXPECT_LE(DefaultMemoryLimit(), 2 * kGiB);
}

}  // namespace
}  // namespace penstock::memory
