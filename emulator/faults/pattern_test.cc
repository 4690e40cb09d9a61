#include "emulator/faults/pattern.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

bool Matches(std::string glob, std::string_view name) {
  return Pattern(std::move(glob)).Matches(name);
}

TEST(PatternTest, OtherCharactersAreLiteral) {
  EXPECT_TRUE(Matches("a/b.c[d]", "a/b.c[d]"));
  EXPECT_FALSE(Matches("a/b.c", "a/bxc"));
  EXPECT_FALSE(Matches("a", "ab"));
  EXPECT_FALSE(Matches("ab", "a"));
  EXPECT_TRUE(Matches("", ""));
}

TEST(PatternTest, StarMatchesAnyBytesIncludingSlashes) {
  EXPECT_TRUE(Matches("*", ""));
  EXPECT_TRUE(Matches("ckpt/*", "ckpt/a/b"));
  EXPECT_FALSE(Matches("ckpt/*", "ckp/a"));
  EXPECT_TRUE(Matches("*.distcp", "a/__0_0.distcp"));
  EXPECT_TRUE(Matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(Matches("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(Matches("a**", "a"));
}

TEST(PatternTest, QuestionMarkMatchesOneByte) {
  EXPECT_TRUE(Matches("a?c", "abc"));
  EXPECT_FALSE(Matches("a?c", "ac"));
  EXPECT_TRUE(Matches("*?", "x"));
  EXPECT_FALSE(Matches("*?", ""));
}

TEST(PatternTest, BackslashEscapesTheNextByte) {
  EXPECT_TRUE(Matches("a\\*b", "a*b"));
  EXPECT_FALSE(Matches("a\\*b", "aXb"));
  EXPECT_TRUE(Matches("x*\\?", "xyz?"));
  EXPECT_FALSE(Matches("x*\\?", "xyz!"));
  EXPECT_TRUE(Matches("a\\", "a\\")) << "a final backslash is literal";
}

TEST(PatternTest, PrefixAndExactlyAreLiteral) {
  EXPECT_TRUE(Pattern::Prefix("a*?/").Matches("a*?/b"));
  EXPECT_FALSE(Pattern::Prefix("a*?/").Matches("aXY/b"));
  EXPECT_TRUE(Pattern::Exactly("a*\\").Matches("a*\\"));
  EXPECT_FALSE(Pattern::Exactly("a*").Matches("ab"));
}

TEST(PatternTest, RegularExpressionMatchesAnywhere) {
  EXPECT_TRUE(Pattern::OfRegex("step-[0-9]+$")->Matches("ckpt/step-40"));
  EXPECT_FALSE(Pattern::OfRegex("step-[0-9]+$")->Matches("ckpt/step-40/x"));
  EXPECT_EQ(Pattern::OfRegex("^train/(a|b)")->literal(), "train/");
  EXPECT_TRUE(Pattern::OfRegex("^train/(a|b)")->Matches("train/b"));
  EXPECT_FALSE(Pattern::OfRegex("^train/(a|b)")->Matches("train/c"));
  EXPECT_EQ(Pattern::OfRegex("a(").error().kind, ErrorKind::kInvalidArgument);
}

TEST(PatternTest, ManyStarsMatchInPolynomialTime) {
  std::string glob;
  for (int i = 0; i < 64; ++i) glob += "a*";
  EXPECT_FALSE(Matches(glob + "b", std::string(2'000, 'a')));
}

}  // namespace
}  // namespace penstock::emulator::faults
