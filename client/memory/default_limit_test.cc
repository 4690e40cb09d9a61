#include "client/memory/default_limit.h"

#include <gtest/gtest.h>

#include "penstock/memory.h"

namespace penstock::memory {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

TEST(DefaultLimitTest, IsAQuarterOfTheMachine) { EXPECT_EQ(DefaultLimitFor(4 * kGiB, std::nullopt), kGiB); }

TEST(DefaultLimitTest, IsAQuarterOfTheControlGroupWhereThatIsSmaller) {
  EXPECT_EQ(DefaultLimitFor(64 * kGiB, 2 * kGiB), 512 * kMiB);
  EXPECT_EQ(DefaultLimitFor(2 * kGiB, 64 * kGiB), 512 * kMiB);
}

TEST(DefaultLimitTest, IsWholeMebibytes) { EXPECT_EQ(DefaultLimitFor(400 * kMiB + 12345, std::nullopt), 100 * kMiB); }

TEST(DefaultLimitTest, IsNeitherTooSmallToWorkNorMoreThanTwoGibibytes) {
  EXPECT_EQ(DefaultLimitFor(0, std::nullopt), kLeastMemoryLimitBytes);
  EXPECT_EQ(DefaultLimitFor(512 * kGiB, std::nullopt), 2 * kGiB);
}

TEST(DefaultLimitTest, ReadsAControlGroupsLimit) {
  EXPECT_EQ(ParseMemoryMax("1073741824\n"), kGiB);
  EXPECT_EQ(ParseMemoryMax("1073741824"), kGiB);
  EXPECT_EQ(ParseMemoryMax("max\n"), std::nullopt);
  EXPECT_EQ(ParseMemoryMax(""), std::nullopt);
  EXPECT_EQ(ParseMemoryMax("12x"), std::nullopt);
}

TEST(DefaultLimitTest, ThisMachineHasOne) {
  EXPECT_GE(DefaultMemoryLimit(), kLeastMemoryLimitBytes);
  EXPECT_LE(DefaultMemoryLimit(), 2 * kGiB);
}

}  // namespace
}  // namespace penstock::memory
