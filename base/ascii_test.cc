#include "base/ascii.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(AsciiTest, ConvertsOnlyAsciiLetters) {
  EXPECT_EQ(AsciiLower("X-Amz-META-\xC3\x84@[`{"), "x-amz-meta-\xC3\x84@[`{");
  EXPECT_EQ(AsciiLower("AZaz09"), "azaz09");
  EXPECT_EQ(AsciiLower(""), "");
}

TEST(AsciiTest, ComparesOnlyAsciiLettersWithoutCase) {
  EXPECT_TRUE(EqualsIgnoreCase("X-Amz-Date", "x-amz-date"));
  EXPECT_FALSE(EqualsIgnoreCase("a", "ab"));
  EXPECT_FALSE(EqualsIgnoreCase("\xC3\x84", "\xC3\xA4"));  // Ä, ä
}

TEST(AsciiTest, TrimsOnlySpacesAndTabs) {
  EXPECT_EQ(TrimBlanks(" \ta \tb\t "), "a \tb");
  EXPECT_EQ(TrimBlanks("\ra\n"), "\ra\n");
  EXPECT_EQ(TrimBlanks(" \t"), "");
}

}  // namespace
}  // namespace penstock
