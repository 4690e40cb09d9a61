#include "emulator/faults/documents/regex.h"

#include <chrono>
#include <random>
#include <regex>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using std::string;

bool Found(const string& expression, const string& text) {
  const auto regex = Regex::Compile(expression);
  EXPECT_TRUE(regex.ok()) << expression;
  return regex.ok() && regex->Found(text);
}

string Problem(const string& expression) {
  const auto regex = Regex::Compile(expression);
  return regex.ok() ? string() : regex.error().message;
}

TEST(RegexTest, MatchesAnywhereUnlessAnchored) {
  EXPECT_TRUE(Found("step", "ckpt/step-4"));
  EXPECT_TRUE(Found("^ckpt/", "ckpt/step-4"));
  EXPECT_FALSE(Found("^step", "ckpt/step-4"));
  EXPECT_TRUE(Found("-4$", "ckpt/step-4"));
  EXPECT_FALSE(Found("-4$", "ckpt/step-40"));
  EXPECT_TRUE(Found("^$", ""));
  EXPECT_FALSE(Found("^$", "a"));
  EXPECT_TRUE(Found("", "a"));
}

TEST(RegexTest, SupportsSetsClassesChoicesAndRepetitions) {
  EXPECT_TRUE(Found(R"(^__\d+_\d+\.distcp$)", "__12_0.distcp"));
  EXPECT_FALSE(Found(R"(^__\d+_\d+\.distcp$)", "__12_0xdistcp"));
  EXPECT_TRUE(Found("^(train|val)/[a-f0-9]{4}$", "val/09af"));
  EXPECT_FALSE(Found("^(train|val)/[a-f0-9]{4}$", "val/09a"));
  EXPECT_TRUE(Found("^a{2,3}$", "aaa"));
  EXPECT_FALSE(Found("^a{2,3}$", "aaaa"));
  EXPECT_TRUE(Found("^(?:ab)*c?$", "ababc"));
  EXPECT_TRUE(Found("^[^/]+$", "plain"));
  EXPECT_FALSE(Found("^[^/]+$", "a/b"));
  EXPECT_TRUE(Found(R"([]\-]x[a-])", "-x-"));
  EXPECT_TRUE(Found("^.$", "\n"));
  EXPECT_TRUE(Found("^ä$", "ä"));
  EXPECT_TRUE(Found("^(a*)*$", "aaa"));
}

TEST(RegexTest, ErrorsNameProblemAndPosition) {
  EXPECT_EQ(Problem("a(b"),
            "the regular expression 'a(b' is invalid at byte 3: unmatched '('; write \\( for a "
            "literal one");
  EXPECT_NE(Problem("*a").find("at byte 0: nothing to repeat"), string::npos);
  for (const char* wrong :
       {"a)", "[a", "[z-a]", "a{2", "a{3,2}", "a{201}", "\\", "\\q", "(?=a)", "[ä]", "[\\d-z]"}) {
    EXPECT_NE(Problem(wrong), "") << wrong;
  }
  EXPECT_NE(
      Problem("[[:alpha:]]").find("classes such as [:alpha:] are not supported; write A-Za-z"),
      string::npos)
      << Problem("[[:alpha:]]");
  EXPECT_EQ(Problem("[:a[]"), "") << "literal characters";
  EXPECT_NE(Problem("(((a{100}){100}){100})").find("1000 steps"), string::npos);
  EXPECT_NE(Problem(string(60, '(') + string(60, ')')).find("more than 50 nested groups"),
            string::npos);
}

string Repeat(const string& text, int times) {
  string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Each took seconds per megabyte, although few steps remain.
TEST(RegexTest, RefusesExpressionsThatTakeLongToCompile) {
  EXPECT_NE(Problem(Repeat("(a{200}){0}", 100)).find("1000 steps"), string::npos);
  EXPECT_NE(Problem("(a{200})" + Repeat("{1}", 100)).find("1000 steps"), string::npos);
  EXPECT_EQ(Problem(Repeat("(a{200}){0}", 10)), "");
}

TEST(RegexTest, CompilesManyChoicesInLinearTime) {
  string choices = "^(x";
  for (int i = 100; i < 250; ++i) choices += "|" + std::to_string(i);
  choices += ")$";
  EXPECT_EQ(Problem(choices), "");
  for (const char* text : {"x", "100", "173", "249"}) EXPECT_TRUE(Found(choices, text)) << text;
  for (const char* text : {"", "99", "250", "x1", "1001"})
    EXPECT_FALSE(Found(choices, text)) << text;
}

TEST(RegexTest, ReturnsLiteralPrefixOfMatches) {
  EXPECT_EQ(Regex::Compile("^train/[0-9]")->Literal(), "train/");
  EXPECT_EQ(Regex::Compile("^train/a*")->Literal(), "train/");
  EXPECT_EQ(Regex::Compile("^a|b")->Literal(), "");
  EXPECT_EQ(Regex::Compile("train")->Literal(), "");
  EXPECT_EQ(Regex::Compile("^a+b")->Literal(), "a");
}

// Expressions for which a backtracking engine needs exponential time.
TEST(RegexTest, MatchesInLinearTime) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(Found("^(a|aa)*(a*)*(a|b)*$", string(8'000, 'a') + "c"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

// Compares random expressions with std::regex.
TEST(RegexTest, AgreesWithTheStandardLibrary) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  const auto any = [&random](std::size_t below) { return random() % below; };
  const std::vector<string> atoms{"a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "(a|)", "^", "$"};
  const std::vector<string> repeats{"", "", "*", "+", "?", "{2}", "{1,2}", "{0,}"};
  for (int i = 0; i < 3'000; ++i) {
    string expression;
    for (std::size_t n = 1 + any(4); n > 0; --n) {
      const string& atom = atoms[any(atoms.size())];
      expression += atom + (atom == "^" || atom == "$" ? string() : repeats[any(repeats.size())]);
      if (any(6) == 0) expression += "|";
    }
    string text;
    for (std::size_t n = any(6); n > 0; --n) text += "abc"[any(3)];
    EXPECT_EQ(Found(expression, text), std::regex_search(text, std::regex(expression)))
        << "'" << expression << "' in '" << text << "', seed " << kSeed;
  }
}

}  // namespace
}  // namespace penstock::emulator::faults
