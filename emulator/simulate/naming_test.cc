#include "emulator/simulate/naming.h"

#include "gtest/gtest.h"

namespace penstock::emulator::simulate {
namespace {

std::string Key(Naming naming, std::uint32_t ranks, std::uint32_t rank,
                std::string_view path = "ckpt") {
  return FileKey(naming, Prefixes(naming, ranks), path, rank, 0);
}

// The expected keys are those of s3torchconnector's prefix strategies.
TEST(NamingTest, DefaultNamesRankAndFile) { EXPECT_EQ(Key({}, 16, 3), "ckpt/__3_0.distcp"); }

TEST(NamingTest, HexReversesDigits) {
  const Naming hex{.strategy = Strategy::kHex};
  EXPECT_EQ(Key(hex, 16, 10), "ckpt/a000000000/__10_0.distcp");
  EXPECT_EQ(Key(hex, 16, 255), "ckpt/f000000000/__255_0.distcp");
  EXPECT_EQ(Key(hex, 257, 256), "ckpt/0010000000/__256_0.distcp");
  EXPECT_EQ(Key(hex, 257, 257), "ckpt/0000000000/__257_0.distcp");
  EXPECT_EQ(Key(hex, 257, 100), "ckpt/4600000000/__100_0.distcp");
  EXPECT_EQ(Key(hex, 2, 1), "ckpt/1000000000/__1_0.distcp");
  EXPECT_EQ(Prefixes(hex, 257).size(), 257U);
}

TEST(NamingTest, EpochIsALevelBelowThePrefix) {
  EXPECT_EQ(Key({.strategy = Strategy::kHex, .epoch = 5}, 16, 10),
            "ckpt/a000000000/epoch_5/__10_0.distcp");
  EXPECT_EQ(
      Key({.strategy = Strategy::kRoundRobin, .epoch = 0, .user_prefixes = {"a", "b", "c"}}, 4, 4),
      "ckpt/b/epoch_0/__4_0.distcp");
}

TEST(NamingTest, BinaryReversesDigits) {
  EXPECT_EQ(Prefixes({.strategy = Strategy::kBinary}, 4),
            (std::vector<std::string>{"0000000000", "1000000000", "0100000000", "1100000000"}));
  EXPECT_EQ(
      Prefixes({.strategy = Strategy::kBinary, .min_prefix_length = 4, .prefix_count = 4}, 1'000),
      (std::vector<std::string>{"0000", "1000", "0100", "1100"}));
  EXPECT_EQ(Key({.strategy = Strategy::kBinary}, 1, 1), "ckpt/0000000000/__1_0.distcp");
}

TEST(NamingTest, RoundRobinRotatesPrefixes) {
  const Naming naming{.strategy = Strategy::kRoundRobin, .user_prefixes = {"x", "y", "z"}};
  EXPECT_EQ(Key(naming, 8, 3), "ckpt/x/__3_0.distcp");
  EXPECT_EQ(Key(naming, 8, 4), "ckpt/y/__4_0.distcp");
}

TEST(NamingTest, PrefixLengthFitsTheCount) {
  EXPECT_EQ(Prefixes({.strategy = Strategy::kBinary, .min_prefix_length = 1}, 5).back(), "001");
  EXPECT_EQ(Prefixes({.strategy = Strategy::kHex, .min_prefix_length = 1}, 16).back(), "f");
  EXPECT_EQ(Prefixes({.strategy = Strategy::kHex, .min_prefix_length = 1}, 17).back(), "01");
}

// Regression: a job of one rank with a million prefixes took a gigabyte of memory.
TEST(NamingTest, HasOnlyThePrefixesThatTheRanksUse) {
  const Naming naming{
      .strategy = Strategy::kHex, .min_prefix_length = 1'024, .prefix_count = 1'000'000};
  const std::vector<std::string> prefixes = Prefixes(naming, 17);
  ASSERT_EQ(prefixes.size(), 17U);
  EXPECT_EQ(prefixes.back(), "01" + std::string(1'022, '0'));
  EXPECT_EQ(
      Prefixes({.strategy = Strategy::kHex, .min_prefix_length = 1, .prefix_count = 257}, 2).back(),
      "100")
      << "as long as the last of all prefixes";
}

TEST(NamingTest, WithoutAPathTheKeyStartsWithThePrefix) {
  EXPECT_EQ(Key({}, 1, 0, ""), "__0_0.distcp");
}

TEST(NamingTest, FindsEveryStrategyByName) {
  for (const Strategy strategy :
       {Strategy::kDefault, Strategy::kBinary, Strategy::kHex, Strategy::kRoundRobin}) {
    EXPECT_EQ(FindStrategy(StrategyName(strategy)).value(), strategy);
  }
  EXPECT_EQ(FindStrategy("octal").error().message,
            "unknown prefix strategy 'octal': expected one of default, binary, hex, round-robin");
}

TEST(NamingTest, RejectsInvalidValues) {
  EXPECT_FALSE(CheckNaming({.strategy = Strategy::kRoundRobin}).ok());
  EXPECT_FALSE(CheckNaming({.strategy = Strategy::kHex, .min_prefix_length = 0}).ok());
  EXPECT_FALSE(CheckNaming({.strategy = Strategy::kHex, .prefix_count = 0}).ok());
  EXPECT_TRUE(CheckNaming({.strategy = Strategy::kHex, .prefix_count = 16}).ok());
  Naming naming{.strategy = Strategy::kRoundRobin, .user_prefixes = {"a", std::string(1'024, 'b')}};
  EXPECT_TRUE(CheckNaming(naming).ok());
  naming.user_prefixes[1] += 'b';
  EXPECT_EQ(CheckNaming(naming).error().message,
            "prefixes[1] has 1025 bytes, and the limit is 1024: use a shorter prefix");
}

}  // namespace
}  // namespace penstock::emulator::simulate
