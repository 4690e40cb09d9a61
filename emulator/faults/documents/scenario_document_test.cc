#include "emulator/faults/documents/scenario_document.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

std::string Problem(std::string_view json) {
  const auto scenario = ParseScenario(json);
  return scenario.ok() ? "" : scenario.error().message;
}

TEST(ScenarioDocumentTest, ReadsAScenario) {
  const Scenario scenario = ParseScenario(R"({"name": "two 503s", "seed": 7, "rules": [
    {"id": "first", "when": {"operation": "UploadPart"}, "do": {"slow_down": {}}, "limit": {"times": 2}},
    {"do": [{"reset": {}, "at": "body_out@65536"}, {"latency": {"ms": 30}}], "final": false, "must_fire": false}]})")
                                .value();
  EXPECT_EQ(scenario.name, "two 503s");
  EXPECT_EQ(scenario.seed, 7U);
  ASSERT_EQ(scenario.rules.size(), 2U);
  const Rule& first = scenario.rules[0];
  EXPECT_EQ(first.id, "first");
  EXPECT_EQ(first.when.operations, std::vector<std::string>{"UploadPart"});
  EXPECT_EQ(first.limit.times, 2U);
  EXPECT_TRUE(first.final) << "it replaces the response";
  EXPECT_TRUE(first.must_fire);
  const Rule& second = scenario.rules[1];
  EXPECT_EQ(second.id, "rule-2");
  EXPECT_FALSE(second.final);
  EXPECT_FALSE(second.must_fire);
  ASSERT_EQ(second.actions.size(), 2U);
  EXPECT_EQ(second.actions[0].at.stage, Stage::kAfterCommit) << "actions are ordered by time";
  EXPECT_EQ(second.actions[1].at.stage, Stage::kBodyOut);
  EXPECT_EQ(second.actions[1].at.offset, 65'536U);
}

TEST(ScenarioDocumentTest, ReadsAListOfRules) {
  const Scenario scenario =
      ParseScenario(R"([{"do": {"stall": {"ms": 5}}, "when": {"probability": 0.5}}])").value();
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_FALSE(scenario.rules[0].final) << "a stalled request continues";
  EXPECT_FALSE(scenario.rules[0].must_fire) << "a random rule may not fire";
}

TEST(ScenarioDocumentTest, ErrorsNameTheField) {
  EXPECT_EQ(Problem("{}"), "rules: is missing: a scenario is a list of rules");
  EXPECT_EQ(Problem(R"([{}])"), "rules[0].do: is missing: add an action or a list of actions");
  EXPECT_EQ(Problem(R"([{"do": {"slow_down": {}}, "when": {"part": "x"}}])"),
            "rules[0].when.part: 'x' is not a set of numbers: expected 3, 3-5, >=2, <=9, every 5, "
            "or a comma-separated list of these");
  EXPECT_EQ(Problem(R"([{"do": [{"slow_down": {}}, {"stall": {}}]}])"),
            "rules[0].do[1].stall.ms: is missing: set the time in milliseconds");
  EXPECT_EQ(Problem(R"([{"do": {"slow_down": {}}, "limit": {"per": "key"}}])"),
            "rules[0].limit.per: sets the scope of `times`: add times");
  EXPECT_EQ(
      Problem(R"([{"id": "a", "do": {"slow_down": {}}}, {"id": "a", "do": {"slow_down": {}}}])"),
      "rule 'a': duplicate id; give each rule a unique id");
  EXPECT_NE(Problem(R"([{"do": {"slow_down": {}}, "whn": {}}])").find("unknown field 'whn'"),
            std::string::npos);
}

TEST(ScenarioDocumentTest, RetryTestErrorsNameTheField) {
  const std::string problem =
      ParseRetryTest(R"({"GetObject": ["slow_down", "nope"]})").error().message;
  EXPECT_TRUE(problem.starts_with(
      "GetObject[1]: unknown action 'nope'; expected one of error, slow_down, "))
      << problem;
  EXPECT_EQ(ParseRetryTest(R"({"GetObject": ["slow_down"]})").value().rules[0].id, "GetObject-1");
}

TEST(ScenarioDocumentTest, RejectsCommasInIds) {
  EXPECT_EQ(ParseScenario(R"([{"id": "a,b", "do": {"slow_down": {}}}])").error().message,
            "rules[0].id: 'a,b' contains a comma, which separates ids in the journal; use another "
            "character");
}

TEST(ScenarioDocumentTest, RetryTestRequiresKnownOperationsAndActions) {
  const auto problem = [](std::string_view text) { return ParseRetryTest(text).error().message; };
  EXPECT_TRUE(problem(R"({"Nope": ["slow_down"]})").starts_with("unknown S3 operation 'Nope': "))
      << problem(R"({"Nope": ["slow_down"]})");
  EXPECT_TRUE(problem("{}").starts_with("has no operation; "));
  EXPECT_EQ(problem(R"({"GetObject": []})"), "GetObject: is empty; add an action, or remove it");
}

std::string List(std::string_view element, std::size_t count) {
  std::string text = "[" + std::string(element);
  for (std::size_t i = 1; i < count; ++i) text.append(",").append(element);
  return text + "]";
}

// Returns a rule with a `when` and one action.
std::string RuleOf(std::string_view when) {
  return R"({"when": {)" + std::string(when) + R"(}, "do": {"slow_down": {}}})";
}

TEST(ScenarioDocumentTest, DocumentsThatTakeLongToReadAreRefusedBeforeTheyAreRead) {
  const auto problem = [](const std::string& text) {
    const auto scenario = ParseScenario(text);
    EXPECT_EQ(ParseInlineFaults(text).ok(), scenario.ok());
    return scenario.ok() ? std::string() : scenario.error().message;
  };
  const std::string operations = R"("operation": )";
  EXPECT_EQ(problem("[" + RuleOf(operations + List("\"*\"", 1001)) + "]"),
            "the scenario has 1001 names of operations; the limit is 1000");
  EXPECT_EQ(problem(List(R"({"do": )" + List("7", 100) + "}", 201)),
            "the scenario has 20100 actions; the limit is 20000");
  const std::string keys =
      R"({"do": {"partial_failure": {"key": )" + List(R"({"regex": "(.{200}){4}"})", 1000) + "}}}";
  EXPECT_EQ(problem("[" + keys + "," + RuleOf(R"("key": {"regex": "a"})") + "]"),
            "the scenario has 1001 regular expressions; the limit is 1000");
  EXPECT_EQ(problem("[" + RuleOf(R"("key": {"regex": ")" + std::string(65'537, 'a') + "\"}") + "]"),
            "the scenario has 65537 bytes of regular expressions; the limit is 65536");
  const std::string of_retry_test =
      R"([{"partial_failure": {"key": )" + List(R"({"regex": "a"})", 1001) + "}}]";
  EXPECT_EQ(ParseRetryTest(R"({"DeleteObjects": )" + of_retry_test + "}").error().message,
            "the scenario has 1001 regular expressions; the limit is 1000");
}

// A document of 8 MiB took a minute and 2 GB before its rules were counted.
TEST(ScenarioDocumentTest, TooManyRulesAreRefusedBeforeTheyAreRead) {
  const auto list = List;
  const std::string problem = "the scenario has 1001 rules; the limit is 1000";
  EXPECT_EQ(ParseScenario(list("7", 1001)).error().message, problem);
  EXPECT_EQ(ParseInlineFaults(list("7", 1001)).error().message, problem);
  EXPECT_EQ(ParseRetryTest("{\"GetObject\": " + list("7", 1000) + ", \"PutObject\": [7]}")
                .error()
                .message,
            problem);
  EXPECT_EQ(ParseScenario("[{\"do\": " + list("7", 101) + "}]").error().message,
            "rules[0].do: has 101 actions; the limit is 100");
  EXPECT_TRUE(ParseRetryTest("{\"GetObject\": " + list("\"slow_down\"", 1000) + "}").ok());
  EXPECT_TRUE(ParseScenario("[{\"do\": " + list(R"({"stall": {"ms": 1}})", 100) + "}]").ok());
}

TEST(ScenarioDocumentTest, TheAccountHasTheScenarioAndWhatRemains) {
  constexpr char kText[] =
      R"({"name": "n", "rules": [{"do": {"slow_down": {}}, "limit": {"times": 3}},
          {"do": {"slow_down": {}}, "limit": {"times": 3, "per": "key"}}]}
      )";
  auto scenario = ParseScenario(kText);
  ASSERT_TRUE(scenario.ok());
  const auto running = RunningScenario::Start(std::move(scenario).value(), WallTime());
  const auto json = nlohmann::json::parse(AccountJson((*running)->Account()));
  EXPECT_EQ(json["scenario"], nlohmann::json::parse(kText));
  EXPECT_EQ(json["rules"][0]["remaining"], 3);
  EXPECT_FALSE(json["rules"][1].contains("remaining")) << "each key has its own count";
  const auto retry = ParseRetryTest(R"({"GetObject": ["slow_down"]})");
  ASSERT_TRUE(retry.ok());
  EXPECT_FALSE(
      nlohmann::json::parse(AccountJson((*RunningScenario::Start(*retry, WallTime()))->Account()))
          .contains("scenario"));
}

TEST(ScenarioDocumentTest, WritesTheAccountAsJson) {
  const auto json = nlohmann::json::parse(AccountJson({.name = "n",
                                                       .seed = 3,
                                                       .requests = 9,
                                                       .fired = 2,
                                                       .complete = true,
                                                       .rules = {{.id = "r",
                                                                  .matched = 4,
                                                                  .fired = 2,
                                                                  .under_way = 1,
                                                                  .complete = true,
                                                                  .request_ids = {"A", "B"}}}}));
  EXPECT_EQ(json,
            nlohmann::json::parse(
                R"({"name": "n", "seed": 3, "requests": 9, "fired": 2, "complete": true, "rules": [
      {"id": "r", "matched": 4, "fired": 2, "under_way": 1, "complete": true, "request_ids": ["A", "B"]}], "replaced": []})"));
  const auto second = nlohmann::json::parse(
      AccountJson({.name = "second", .replaced = {{.name = "first", .requests = 4}}}));
  EXPECT_EQ(second.at("replaced").at(0).at("name"), "first");
  EXPECT_EQ(second.at("replaced").at(0).at("requests"), 4);
}

}  // namespace
}  // namespace penstock::emulator::faults
