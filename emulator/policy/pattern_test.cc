#include "emulator/policy/pattern.h"

#include <gtest/gtest.h>

#include "emulator/policy/policy_test_support.h"

namespace penstock::emulator::policy {
namespace {

using testing::MapContext;

const MapContext kContext{
    {"aws:username", {"ann"}}, {"aws:PrincipalTag/Team", {"red*"}}, {"aws:TagKeys", {"a", "b"}}};

bool Like(std::string_view pattern, std::string_view text) {
  return Pattern(pattern, Pattern::Wildcards::kYes, Pattern::Variables::kYes)
      .Matches(text, kContext);
}
bool Equals(std::string_view pattern, std::string_view text) {
  return Pattern(pattern, Pattern::Wildcards::kNo, Pattern::Variables::kYes)
      .Matches(text, kContext);
}

TEST(PolicyPatternTest, WildcardsMatchTexts) {
  EXPECT_TRUE(Like("*", ""));
  EXPECT_TRUE(Like("a*c", "abbc"));
  EXPECT_FALSE(Like("a*c", "abcd"));
  EXPECT_TRUE(Like("*a*b*", "xxaxxbxx"));
  EXPECT_TRUE(Like("a?c", "abc"));
  EXPECT_FALSE(Like("a?c", "ac"));
  EXPECT_TRUE(Like("a?c",
                   "a\xc3\xa9"
                   "c"))
      << "one character of two bytes";
  EXPECT_FALSE(Like("abc", "ABC"));
  EXPECT_FALSE(Equals("a*", "abc"));
  EXPECT_TRUE(Equals("a*", "a*"));
}

TEST(PolicyPatternTest, VariablesHaveTheRequestsValues) {
  EXPECT_TRUE(Like("home/${aws:username}/*", "home/ann/file"));
  EXPECT_TRUE(Like("home/${AWS:UserName}/*", "home/ann/file"));
  EXPECT_FALSE(Like("home/${aws:username}/*", "home/bob/file"));
  EXPECT_TRUE(Equals("${aws:username}", "ann"));
  EXPECT_TRUE(Like("${aws:PrincipalTag/Team}", "red*"));
  EXPECT_FALSE(Like("${aws:PrincipalTag/Team}", "redder")) << "values have no wildcards";
}

TEST(PolicyPatternTest, VariablesWithoutValueUseTheirDefault) {
  EXPECT_TRUE(Like("${aws:userid, 'nobody'}/*", "nobody/x"));
  EXPECT_TRUE(Like("${aws:username, 'nobody'}/*", "ann/x"));
  EXPECT_FALSE(Like("${aws:userid}/*", "/x"));
  EXPECT_FALSE(Like("${aws:userid}", "${aws:userid}"));
  EXPECT_FALSE(Like("${aws:TagKeys}", "a")) << "several values";
  EXPECT_TRUE(Like("${aws:TagKeys, 'a'}", "a"));
}

TEST(PolicyPatternTest, SpecialCharactersCanBeEscaped) {
  EXPECT_TRUE(Like("a${*}b", "a*b"));
  EXPECT_FALSE(Like("a${*}b", "axb"));
  EXPECT_TRUE(Like("a${?}", "a?"));
  EXPECT_TRUE(Like("a${$}{x}", "a${x}"));
  EXPECT_TRUE(Like("a${x", "a${x"));
}

TEST(PolicyPatternTest, TheOlderVersionHasNoVariables) {
  const Pattern pattern("${aws:username}", Pattern::Wildcards::kYes, Pattern::Variables::kNo);
  EXPECT_TRUE(pattern.Matches("${aws:username}", kContext));
  EXPECT_FALSE(pattern.Matches("ann", kContext));
}

TEST(PolicyPatternTest, ManyStarsTakePolynomialTime) {
  std::string stars;
  for (int i = 0; i < 2000; ++i) stars += "*a";
  EXPECT_FALSE(Like(stars + "b", std::string(4000, 'a')));
}

TEST(PolicyPatternTest, ArnsHaveSixParts) {
  const auto parts = SplitArn("arn:aws:iam::111122223333:role/a:b");
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ((*parts)[4], "111122223333");
  EXPECT_EQ((*parts)[5], "role/a:b");
  EXPECT_FALSE(SplitArn("arn:aws:iam").has_value());
}

}  // namespace
}  // namespace penstock::emulator::policy
