#include "base/text/utf8.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr const char* kGood[] = {"",
                                 "abc",
                                 "\xC2\x80",
                                 "\xC3\xA9",
                                 "\xE0\xA0\x80",
                                 "\xE2\x82\xAC",
                                 "\xED\x9F\xBF",
                                 "\xEE\x80\x80",
                                 "\xEF\xBF\xBF",
                                 "\xF0\x90\x80\x80",
                                 "\xF0\x9F\x98\x80",
                                 "\xF4\x8F\xBF\xBF"};
// Truncated, lone continuation byte, overlong, surrogate, above U+10FFFF, invalid byte.
constexpr const char* kBad[] = {"\xC3",
                                "\xE2\x82",
                                "\xF0\x9F\x98",
                                "\x80",
                                "\xC0\x80",
                                "\xC1\xBF",
                                "\xE0\x80\x80",
                                "\xE0\x9F\xBF",
                                "\xF0\x8F\xBF\xBF",
                                "\xED\xA0\x80",
                                "\xF4\x90\x80\x80",
                                "\xF5\x80\x80\x80",
                                "\xFE",
                                "\xFF"};

TEST(Utf8Test, ValidatesUtf8) {
  for (const char* good : kGood) EXPECT_TRUE(IsValidUtf8(good)) << good;
  for (const char* bad : kBad) {
    EXPECT_FALSE(IsValidUtf8(bad));
    EXPECT_EQ(FindIllFormedUtf8("sixteen bytes of\uFFFD" + std::string(bad) + "and more"), 19u);
  }
}

TEST(Utf8Test, DetectsNonAsciiBytesAtEveryOffset) {
  const std::string ascii(20, 'a');
  EXPECT_TRUE(IsAscii(ascii));
  EXPECT_TRUE(IsAscii(""));
  for (std::size_t at = 0; at < ascii.size(); ++at) {
    std::string text = ascii;
    text[at] = '\x80';
    EXPECT_FALSE(IsAscii(text)) << at;
  }
}

TEST(Utf8Test, ReplacesEachIllFormedByte) {
  for (const char* good : kGood) EXPECT_EQ(ReplaceIllFormedUtf8(good), good);
  EXPECT_EQ(ReplaceIllFormedUtf8("a\xFF\xC3\xA9\xE2\x82z"), "a\uFFFD\u00E9\uFFFD\uFFFDz");
  for (const char* bad : kBad) EXPECT_TRUE(IsValidUtf8(ReplaceIllFormedUtf8(bad)));
}

}  // namespace
}  // namespace penstock
