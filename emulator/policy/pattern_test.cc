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

// A request chooses the values of variables, so it must not choose the memory that a policy takes.
TEST(PolicyPatternTest, VariablesAreReplacedUntilTheTextIsTooShort) {
  class Counting final : public Context {
   public:
    std::optional<Values> Find(std::string_view) const override {
      ++finds;
      return Values{std::string(1000, 'a')};
    }
    mutable int finds = 0;
  };
  const auto finds = [](std::string_view text, bool matches) {
    std::string variables;
    for (int i = 0; i < 700; ++i) variables += "*${aws:UserAgent}?";
    const Pattern pattern(variables + "*", Pattern::Wildcards::kYes, Pattern::Variables::kYes);
    const Counting context;
    EXPECT_EQ(pattern.Matches(text, context), matches);
    return context.finds;
  };
  EXPECT_EQ(finds("short", false), 1);
  EXPECT_EQ(finds(std::string(3000, 'a'), false), 3);
  EXPECT_EQ(finds(std::string(700 * 1001 - 1, 'a'), false), 700);
  EXPECT_EQ(finds(std::string(700 * 1001, 'a'), true), 700);
}

TEST(PolicyPatternTest, ManyStarsTakePolynomialTime) {
  std::string stars;
  for (int i = 0; i < 2000; ++i) stars += "*a";
  EXPECT_FALSE(Like(stars + "b", std::string(4000, 'a')));
}

// The work for a part between two asterisks does not grow with its length: a match by trying every
// position would compare more than 10^12 characters here.
TEST(PolicyPatternTest, LongPartsTakeLinearTime) {
  const std::string text(3'000'000, 'a');
  const std::string part(1'500'000, 'a');
  EXPECT_FALSE(Like("*" + part + "b*", text));
  EXPECT_FALSE(Like("*" + part + "*" + part + "*b", text));
  EXPECT_TRUE(Like("*" + part + "*" + part + "*", text));
  EXPECT_FALSE(Like("*" + part + "*" + part + "a*", text));
  std::string characters = part.substr(0, 1'000);
  characters.insert(500, "?");
  EXPECT_FALSE(Like("*" + characters + "b*", text));
  EXPECT_TRUE(Like("*" + characters + "*", text));
}

// Compares with a search of every way to match.
bool Slow(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return Slow(pattern.substr(1), text) || (!text.empty() && Slow(pattern, text.substr(1)));
  if (text.empty()) return false;
  if (pattern[0] != '?') return pattern[0] == text[0] && Slow(pattern.substr(1), text.substr(1));
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) ++size;
  return Slow(pattern.substr(1), text.substr(size));
}

TEST(PolicyPatternTest, ShortPatternsMatchAsASlowSearchDoes) {
  constexpr std::string_view kParts[] = {"a", "b", "*", "?", "\xc3\xa9", "A"};
  unsigned state = 1;
  const auto next = [&state](unsigned end) {
    state = state * 1'103'515'245 + 12'345;
    return (state >> 16) % end;
  };
  int matches = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string pattern;
    std::string text;
    for (unsigned n = next(8); n > 0; --n) pattern += kParts[next(5)];
    for (unsigned n = next(9); n > 0; --n) text += kParts[next(2) == 0 ? 0 : next(2) + 3 * next(2)];
    ASSERT_EQ(Like(pattern, text), Slow(pattern, text)) << pattern << " and " << text;
    matches += Slow(pattern, text) ? 1 : 0;
  }
  EXPECT_GT(matches, 10'000);
}

TEST(PolicyPatternTest, CaseCanBeIgnored) {
  const Pattern pattern("s3:Get*Acl?", Pattern::Wildcards::kYes, Pattern::Variables::kNo);
  EXPECT_TRUE(pattern.Matches("S3:getObjectACLs", kContext, Pattern::Case::kIgnored));
  EXPECT_FALSE(pattern.Matches("S3:getObjectACLs", kContext));
  EXPECT_FALSE(pattern.Matches("S3:putObjectACLs", kContext, Pattern::Case::kIgnored));
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
