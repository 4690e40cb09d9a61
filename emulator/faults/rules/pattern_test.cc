#include "emulator/faults/rules/pattern.h"

#include <chrono>
#include <random>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

bool Matches(std::string glob, std::string_view name) {
  return Pattern::OfGlob(std::move(glob))->Matches(name);
}

bool Found(std::string_view expression, std::string_view name) {
  const Result<Pattern> pattern = Pattern::OfRegex(expression);
  EXPECT_TRUE(pattern.ok()) << expression;
  return pattern.ok() && pattern->Matches(name);
}

std::string Problem(std::string_view expression) {
  const Result<Pattern> pattern = Pattern::OfRegex(expression);
  return pattern.ok() ? std::string() : pattern.error().message;
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

TEST(PatternTest, RegularExpressionMatchesAnywhereUnlessAnchored) {
  EXPECT_TRUE(Found("step-[0-9]+$", "ckpt/step-40"));
  EXPECT_FALSE(Found("step-[0-9]+$", "ckpt/step-40/x"));
  EXPECT_TRUE(Found("^train/(a|b)", "train/b"));
  EXPECT_FALSE(Found("^train/(a|b)", "train/c"));
  EXPECT_TRUE(Found("^$", ""));
  EXPECT_FALSE(Found("^$", "\n"));
  EXPECT_TRUE(Found("", "a"));
}

TEST(PatternTest, RegularExpressionMatchesCharactersOfUtf8) {
  EXPECT_TRUE(Found("^.$", "ä"));
  EXPECT_TRUE(Found("^[äö]{2}$", "öä"));
  EXPECT_TRUE(Found("^.$", "\n")) << "'.' also matches a newline";
  EXPECT_TRUE(Found("a$", "\xff a")) << "text before the match need not be UTF-8";
}

TEST(PatternTest, RegularExpressionSupportsSetsClassesChoicesAndRepetitions) {
  EXPECT_TRUE(Found(R"(^__\d+_\d+\.distcp$)", "__12_0.distcp"));
  EXPECT_FALSE(Found(R"(^__\d+_\d+\.distcp$)", "__12_0xdistcp"));
  EXPECT_TRUE(Found("^(train|val)/[a-f0-9]{4}$", "val/09af"));
  EXPECT_FALSE(Found("^(train|val)/[a-f0-9]{4}$", "val/09a"));
  EXPECT_FALSE(Found("^a{2,3}$", "aaaa"));
  EXPECT_TRUE(Found("^(?:ab)*c?$", "ababc"));
  EXPECT_FALSE(Found("^[^/]+$", "a/b"));
  EXPECT_TRUE(Found(R"([]\-]x[a-])", "-x-"));
  EXPECT_TRUE(Found("(?i)^[[:alpha:]]+$", "ABC"));
}

TEST(PatternTest, ErrorsOfRegularExpressionsNameExpressionAndProblem) {
  EXPECT_EQ(Pattern::OfRegex("a(").error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(Problem("a("), "the regular expression 'a(' is invalid: missing ): a(");
  EXPECT_EQ(
      Problem("(((a{40}){40}){40})"),
      "the regular expression '(((a{40}){40}){40})' is invalid: invalid repetition size: {40}");
  std::string large;
  for (int i = 0; i < 50; ++i) large += "[a-z]{1000}";
  EXPECT_NE(Problem(large).find("it needs more than 256 KiB; shorten it or its repetitions"),
            std::string::npos);
  for (const char* wrong :
       {"a)", "[a", "[z-a]", "a{3,2}", "a{1001}", "\\", "\\q", "(?=a)", "(a)\\1", "*a", "a**"}) {
    EXPECT_NE(Problem(wrong), "") << wrong;
  }
}

// Expressions for which a backtracking engine needs exponential time.
TEST(PatternTest, RegularExpressionMatchesInLinearTime) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(Found("^(a|aa)*(a*)*(a|b)*$", std::string(8'000, 'a') + "c"));
  EXPECT_FALSE(Found("(a|b)*a(a|b){500}c", std::string(8'000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

// The definition of a glob.
bool MatchesByDefinition(std::string_view glob, std::string_view name) {
  if (glob.empty()) return name.empty();
  if (glob[0] == '*') {
    return MatchesByDefinition(glob.substr(1), name) ||
           (!name.empty() && MatchesByDefinition(glob, name.substr(1)));
  }
  const std::size_t length = glob[0] == '\\' && glob.size() > 1 ? 2 : 1;
  const bool any = length == 1 && glob[0] == '?';
  return !name.empty() && (any || glob[length - 1] == name[0]) &&
         MatchesByDefinition(glob.substr(length), name.substr(1));
}

std::string RandomText(std::mt19937& random, std::string_view alphabet, std::size_t most) {
  std::string text;
  for (std::size_t left = random() % (most + 1); left > 0; --left)
    text += alphabet[random() % alphabet.size()];
  return text;
}

TEST(PatternTest, RandomGlobsMatchAsDefined) {
  std::mt19937 random(20261128);
  int matches = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string glob = RandomText(random, "aab*?\\", 8);
    const std::string name = RandomText(random, "aab*\\", 10);
    const bool expected = MatchesByDefinition(glob, name);
    matches += expected ? 1 : 0;
    ASSERT_EQ(Matches(glob, name), expected) << glob << " " << name;
  }
  EXPECT_GT(matches, 1'000);
}

TEST(PatternTest, LongSegmentsMatchAcrossWords) {
  for (const std::size_t length : {63, 64, 65, 128, 200, 1'021}) {
    const std::string segment = std::string(length - 1, 'a') + "?";
    const std::string glob = "*" + segment + "b*";
    EXPECT_TRUE(Matches(glob, "xx" + std::string(length + 70, 'a') + "bcc")) << length;
    EXPECT_FALSE(Matches(glob, "xx" + std::string(length - 1, 'a') + "bcc")) << length;
    EXPECT_TRUE(Matches(glob, std::string(length - 1, 'a') + "\xff" + "b")) << length;
  }
}

// With a step for each pair of bytes it takes minutes.
TEST(PatternTest, LongestGlobsMatchLongTextInLinearTime) {
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "a*";
  const std::string text(60'000, 'a');
  for (int i = 0; i < 200; ++i) {
    const std::string end = std::to_string(1'000 + i) + "*";
    EXPECT_FALSE(Matches("*" + std::string(1'000, 'a') + end, text));
    EXPECT_FALSE(Matches(stars + end, text));
  }
}

}  // namespace
}  // namespace penstock::emulator::faults
