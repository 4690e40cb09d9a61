#include "emulator/s3/protocol/text.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(TextTest, CaseFoldsAsciiOnly) {
  EXPECT_TRUE(EqualsIgnoreCase("X-Amz-Date", "x-amz-date"));
  EXPECT_FALSE(EqualsIgnoreCase("a", "ab"));
  EXPECT_FALSE(EqualsIgnoreCase("\xC3\x84", "\xC3\xA4"));  // Ä, ä
  EXPECT_TRUE(StartsWithIgnoreCase("X-Amz-Meta-A", "x-amz-meta-"));
}

TEST(TextTest, TrimsSpacesAndTabs) {
  EXPECT_EQ(TrimBlanks(" \ta b\t "), "a b");
  EXPECT_EQ(TrimBlanks(" \t"), "");
}

TEST(TextTest, ParsesDecimalsUpToTheLimit) {
  EXPECT_EQ(ParseDecimal("0"), 0u);
  EXPECT_EQ(ParseDecimal("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseDecimal("10000", 10'000), 10'000u);
  for (const char* bad :
       {"", "-1", "+1", " 1", "1 ", "1x", "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_FALSE(ParseDecimal(bad).has_value()) << bad;
  }
  EXPECT_FALSE(ParseDecimal("10001", 10'000).has_value());
  EXPECT_FALSE(ParseDecimal("7", 5).has_value());
}

TEST(TextTest, PercentDecodeRefusesMalformedEscapes) {
  EXPECT_EQ(PercentDecode("a%2Fb%2fc+d", {}), "a/b/c+d");
  EXPECT_EQ(PercentDecode("a+b%2B", {.plus_is_space = true}), "a b+");
  for (const char* bad : {"%", "%2", "a%", "%G0", "%0G", "%%41"})
    EXPECT_FALSE(PercentDecode(bad, {}).has_value()) << bad;
}

// Measured on Amazon S3: the encoding of Java's URLEncoder, except that '/' is kept.
TEST(TextTest, ListingEncodingMatchesS3) {
  EXPECT_EQ(ListingEncode("a b+c%d/e*-._~"), "a+b%2Bc%25d/e*-._%7E");
  EXPECT_EQ(ListingEncode("\xC3\xA9\x01"), "%C3%A9%01");
}

TEST(TextTest, PathEncodingKeepsUnreservedAndSlash) {
  EXPECT_EQ(PathEncode("a b/~+"), "a%20b/~%2B");
}

TEST(TextTest, PercentEncodingKeepsUnreservedOnly) {
  EXPECT_EQ(PercentEncode("a b/~+\xC3\xA9\n"), "a%20b%2F~%2B%C3%A9%0A");
}

}  // namespace
}  // namespace penstock::emulator::s3
