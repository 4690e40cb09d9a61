#include "emulator/faults/scenario/rule_index.h"

#include <gtest/gtest.h>

namespace penstock::emulator::faults {
namespace {

Rule MakeRule(Condition when, Stage stage = Stage::kHeaders) {
  return {.id = "r",
          .when = std::move(when),
          .actions = {{.action = StallAction{}, .at = {.stage = stage}}}};
}

std::vector<std::size_t> Places(const RuleIndex& index, const RuleIndex::Names& names) {
  std::vector<std::size_t> places;
  index.ForEach(names, [&places](std::size_t place) {
    places.push_back(place);
    return true;
  });
  return places;
}

std::vector<std::size_t> Places(const std::vector<Rule>& rules, const RuleIndex::Names& names) {
  return Places(RuleIndex(rules), names);
}

using Several = std::vector<std::size_t>;

TEST(RuleIndexTest, FindsRulesByOperationInOrder) {
  const std::vector<Rule> rules{MakeRule({.operations = {"GetObject"}}), MakeRule({}),
                                MakeRule({.operations = {"GetObject", "PutObject"}})};
  EXPECT_EQ(Places(rules, {.operation = "GetObject"}), (Several{0, 1, 2}));
  EXPECT_EQ(Places(rules, {.operation = "PutObject"}), (Several{1, 2}));
  EXPECT_EQ(Places(rules, {.operation = "HeadObject"}), Several{1});
  EXPECT_EQ(Places(rules, {}), Several{1}) << "not an S3 operation";
}

TEST(RuleIndexTest, SkipsRulesExcludedByPrefixes) {
  const std::vector<Rule> rules{MakeRule({.key = Pattern::Prefix("data/train/2026/")}),
                                MakeRule({.key = Pattern("data/*.pt")}),
                                MakeRule({.bucket = Pattern::Exactly("b")}),
                                MakeRule({.key = Pattern("*x")})};
  EXPECT_EQ(Places(rules, {.bucket = "a", .key = "data/train/2026/1"}), (Several{0, 1, 3}));
  EXPECT_EQ(Places(rules, {.bucket = "a", .key = "data/train/2025/1"}), (Several{1, 3}));
  EXPECT_EQ(Places(rules, {.bucket = "b", .key = "dat"}), (Several{2, 3}));
  EXPECT_EQ(Places(rules, {.bucket = "a", .key = ""}), Several{3});
}

TEST(RuleIndexTest, KeepsEveryRuleWhosePatternMatches) {
  for (const std::string glob :
       {"a", "ab*", "a?c", "\\*a", "0123456789abcdef", "0123456789abcdefg*", "*", "?", "a\\"}) {
    const Pattern pattern(glob);
    const RuleIndex index({MakeRule({.key = pattern})});
    for (const std::string name : {"a", "ab", "abc", "axc", "*a", "0123456789abcdef",
                                   "0123456789abcdefgh", "0123456789abcdeX", "", "a\\"}) {
      EXPECT_TRUE(!pattern.Matches(name) || !Places(index, {.key = name}).empty())
          << glob << " " << name;
    }
  }
}

TEST(RuleIndexTest, FindsRulesAmongManyKeys) {
  std::vector<Rule> rules;
  for (int number = 0; number < 200; ++number) {
    rules.push_back(
        MakeRule({.key = Pattern::Prefix((number % 2 == 0 ? "train/" : "a/very/long/way/to/") +
                                         std::to_string(number) + "/")}));
  }
  rules.push_back(MakeRule({}));
  const RuleIndex index(rules);
  for (int number = 0; number < 200; ++number) {
    const std::string key =
        *rules[static_cast<std::size_t>(number)].when.key->literal().begin() == 't'
            ? "train/"
            : "a/very/long/way/to/";
    bool found = false;
    index.ForEach({.key = key + std::to_string(number) + "/x"}, [&](std::size_t place) {
      found = found || place == static_cast<std::size_t>(number);
      return true;
    });
    EXPECT_TRUE(found) << number;
  }
  EXPECT_EQ(Places(rules, {.key = "train/1/x"}), Several{200}) << "only the general rule matches";
}

TEST(RuleIndexTest, SkipsRulesExcludedByMissingHeaders) {
  const std::vector<Rule> rules{MakeRule({.headers = {{"x-run", Pattern("7")}}}),
                                MakeRule({.key = Pattern("k"), .attempt = NumberSet::Of(2)})};
  HeaderNameSet run;
  run.Add("X-Run");
  HeaderNameSet retry;
  retry.Add("amz-sdk-request");
  EXPECT_EQ(Places(rules, {.key = "k", .headers = {}}), Several{});
  EXPECT_EQ(Places(rules, {.key = "k", .headers = run}), Several{0});
  EXPECT_EQ(Places(rules, {.key = "k", .headers = retry}), Several{1});
  EXPECT_EQ(Places(rules, {.key = "k"}), (Several{0, 1})) << "the headers are unknown";
}

TEST(RuleIndexTest, SkipsConnectionRules) {
  EXPECT_EQ(Places({MakeRule({}, Stage::kAccept), MakeRule({})}, {.operation = "GetObject"}),
            Several{1});
}

}  // namespace
}  // namespace penstock::emulator::faults
