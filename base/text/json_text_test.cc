#include "base/text/json_text.h"

#include <gtest/gtest.h>

namespace penstock::internal {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(JsonTextTest, QuotesPlainText) {
  EXPECT_EQ(Json(""), "\"\"");
  EXPECT_EQ(Json("a b/c"), "\"a b/c\"");
}

TEST(JsonTextTest, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(Json("a\"b\\c\n\r\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f\"");
  EXPECT_EQ(Json(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonTextTest, KeepsUtf8) {
  EXPECT_EQ(Json("\u00e9\u20ac\U0001F600"), "\"\u00e9\u20ac\U0001F600\"");
}

// Unicode standard, table 3-7. Each text is ill-formed, so each of its bytes is replaced.
TEST(JsonTextTest, ReplacesIllFormedUtf8) {
  for (const std::string_view bad :
       {"\x80", "\xC1", "\xC3", "\xE2\x82", "\xF5", "\xFF", "\xC0\xAF", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80"}) {
    std::string expected = "\"x";
    for (std::size_t i = 0; i < bad.size(); ++i) expected += "\uFFFD";
    EXPECT_EQ(Json("x" + std::string(bad) + "y"), expected + "y\"");
  }
}

}  // namespace
}  // namespace penstock::internal
