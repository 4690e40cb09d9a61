#include "emulator/faults/documents/named_scenarios.h"

#include "emulator/faults/documents/scenario_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

TEST(NamedScenariosTest, EachRunsByItsName) {
  for (const NamedScenario& named : NamedScenarios()) {
    const auto scenario =
        ParseScenario("{\"scenario\": \"" + std::string(named.name) + "\", \"seed\": 9}");
    ASSERT_TRUE(scenario.ok()) << named.name << ": " << scenario.error().message;
    EXPECT_EQ(scenario->name, named.name);
    EXPECT_EQ(scenario->seed, 9U);
    EXPECT_FALSE(scenario->rules.empty());
    EXPECT_FALSE(named.about.empty());
  }
}

TEST(NamedScenariosTest, CanBeLimitedToABucketAndKeys) {
  const auto scenario =
      ParseScenario(R"({"scenario": "hot-prefix", "bucket": "data", "key": {"prefix": "hot/"}})")
          .value();
  ASSERT_TRUE(scenario.rules.front().when.bucket);
  ASSERT_TRUE(scenario.rules.front().when.key);
  EXPECT_FALSE(scenario.rules.front().when.operations.empty())
      << "the scenario's own conditions still apply";
}

TEST(NamedScenariosTest, UnknownNameErrorListsAllNames) {
  const auto scenario = ParseScenario(R"({"scenario": "meteor"})");
  ASSERT_FALSE(scenario.ok());
  for (const NamedScenario& named : NamedScenarios()) {
    EXPECT_NE(scenario.error().message.find(named.name), std::string::npos)
        << scenario.error().message;
  }
}

TEST(NamedScenariosTest, TheirDocumentsCanBeParsed) {
  EXPECT_TRUE(
      NamedScenariosJson().starts_with("{\"scenarios\":[{\"name\":\"ack-lost-on-complete\""));
}

}  // namespace
}  // namespace penstock::emulator::faults
