#include "base/crc/named_crc.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

// The check values of "123456789".
constexpr std::string_view kDigits = "123456789";
const ExpectedCrc kExpected[] = {
    {Crc::kCrc64Nvme, "rosUhgp5mIg="}, {Crc::kCrc32c, "4waSgw=="}, {Crc::kCrc32, "y/Q5Jg=="}};

TEST(NamedCrc, PiecesGiveTheCheckValues) {
  for (const ExpectedCrc& expected : kExpected) {
    const Crc crc = expected.crc;
    const std::uint64_t first = UpdateCrc(crc, AsBytes(kDigits.substr(0, 4)), 0);
    const std::uint64_t second = UpdateCrc(crc, AsBytes(kDigits.substr(4)), 0);
    EXPECT_EQ(CrcText(crc, UpdateCrc(crc, AsBytes(kDigits.substr(4)), first)), expected.expected);
    EXPECT_EQ(CrcText(crc, CombineCrc(crc, first, second, 5)), expected.expected);
  }
}

TEST(NamedCrc, MismatchIsDataLossThatNamesBothValues) {
  for (const ExpectedCrc& expected : kExpected) {
    const std::uint64_t value = UpdateCrc(expected.crc, AsBytes(kDigits), 0);
    EXPECT_TRUE(CompareCrc(expected, value).ok());
    const Result<void> compared = CompareCrc(expected, value ^ 1);
    ASSERT_FALSE(compared.ok());
    EXPECT_EQ(compared.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(compared.error().message.find(expected.expected), std::string::npos);
    EXPECT_NE(compared.error().message.find(CrcText(expected.crc, value ^ 1)), std::string::npos);
  }
}

TEST(NamedCrc, FindsThePreferredCrcAndIgnoresOtherChecksums) {
  EXPECT_EQ(FindCrc({{"sha256", "x"}}).crc, Crc::kNone);
  EXPECT_EQ(FindCrc({{"sha256", "x"}, {"crc32", "a"}, {"crc32c", "b"}}).crc, Crc::kCrc32c);
  EXPECT_EQ(FindCrc({{"crc32", "a"}, {"crc64nvme", "b"}}).expected, "b");
}

TEST(NamedCrc, NoneAlwaysMatches) {
  EXPECT_EQ(UpdateCrc(Crc::kNone, AsBytes(kDigits), 7), 0u);
  EXPECT_EQ(CombineCrc(Crc::kNone, 1, 2, 3), 0u);
  EXPECT_EQ(CrcText(Crc::kNone, 1), "");
  EXPECT_TRUE(CompareCrc({}, 1).ok());
}

}  // namespace
}  // namespace penstock
