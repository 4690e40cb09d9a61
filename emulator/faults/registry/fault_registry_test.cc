#include "emulator/faults/registry/fault_registry.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"

namespace penstock::emulator::faults {
namespace {

Scenario OneRule(std::string_view name) {
  return ParseScenario(
             R"({"name": ")" + std::string(name) +
             R"(", "rules": [{"when": {"operation": "GetObject"}, "do": {"slow_down": {}}}]})")
      .value();
}

class FaultRegistryTest : public testing::Test {
 protected:
  FakeClock clock_;
  FaultRegistry registry_{clock_};
};

TEST_F(FaultRegistryTest, IsIdleWithoutScenarios) {
  EXPECT_TRUE(registry_.idle());
  EXPECT_FALSE(registry_.Account());
  ASSERT_TRUE(registry_.Start(OneRule("first")).ok());
  EXPECT_FALSE(registry_.idle());
  EXPECT_EQ(registry_.Account()->name, "first");
  registry_.Stop();
  EXPECT_TRUE(registry_.idle());
}

TEST_F(FaultRegistryTest, StartReplacesTheRunningScenario) {
  ASSERT_TRUE(registry_.Start(OneRule("first")).ok());
  const auto first = registry_.Find("").value();
  ASSERT_TRUE(registry_.Start(OneRule("second")).ok());
  EXPECT_EQ(registry_.Account()->name, "second");
  EXPECT_EQ(first->Account().name, "first") << "requests in flight keep the old scenario";
}

TEST_F(FaultRegistryTest, CheckReportsReplacedScenariosUntilForgotten) {
  EXPECT_TRUE(registry_.Check().ok());
  ASSERT_TRUE(registry_.Start(OneRule("first")).ok());
  ASSERT_TRUE(registry_.Start(Scenario{.name = "complete"}).ok());
  ASSERT_EQ(registry_.Account()->replaced.size(), 1U);
  EXPECT_EQ(registry_.Account()->replaced[0].name, "first");
  EXPECT_EQ(registry_.Check().error().kind, ErrorKind::kPreconditionFailed);
  registry_.Stop();
  EXPECT_TRUE(registry_.idle());
  EXPECT_EQ(registry_.Check().error().message,
            "faults that were planned had not happened when their scenario was replaced or cleared "
            "(seed 1, 0 requests seen): 'rule-1' fired for 0 of the 0 requests that matched");
  registry_.Forget();
  EXPECT_TRUE(registry_.Check().ok());
  ASSERT_TRUE(registry_.Start(Scenario{.name = "complete"}).ok());
  registry_.Stop();
  EXPECT_TRUE(registry_.Check().ok());
}

TEST_F(FaultRegistryTest, RequestsInFlightCompleteAReplacedScenario) {
  ASSERT_TRUE(registry_.Start(OneRule("first")).ok());
  const TestRequest request("GET", "/b/k");
  const auto tickets = Meet(*registry_.Find("").value(), request);
  registry_.Stop();
  EXPECT_FALSE(registry_.Check().ok());
  tickets.at(0)->Done(tickets.at(0)->rule().actions.front().action);
  EXPECT_TRUE(registry_.Check().ok());
}

TEST_F(FaultRegistryTest, DefaultScenariosAreNotReportedAndReplacedOnesAreBounded) {
  ASSERT_TRUE(registry_.Start(OneRule("default"), /*by_default=*/true).ok());
  EXPECT_FALSE(registry_.Check().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(registry_.Start(OneRule(std::to_string(i))).ok());
  const auto replaced = registry_.Account()->replaced;
  ASSERT_EQ(replaced.size(), FaultRegistry::kMaxReplaced);
  EXPECT_EQ(replaced.front().name, "0");
}

TEST_F(FaultRegistryTest, RestoreRestartsTheDefaultAndForgetsOthers) {
  ASSERT_TRUE(registry_.Start(OneRule("default"), /*by_default=*/true).ok());
  ASSERT_TRUE(registry_.Start(OneRule("planned")).ok());
  ASSERT_TRUE(registry_.Restore().ok());
  EXPECT_EQ(registry_.Account()->name, "default");
  EXPECT_TRUE(registry_.Account()->replaced.empty());
  ASSERT_TRUE(registry_.Start(Scenario{.name = "complete"}).ok());
  EXPECT_TRUE(registry_.Check().ok()) << "a restored default is not reported either";
}

TEST_F(FaultRegistryTest, RestoreWithoutDefaultForgets) {
  ASSERT_TRUE(registry_.Start(OneRule("planned")).ok());
  ASSERT_TRUE(registry_.Restore().ok());
  EXPECT_TRUE(registry_.idle());
  EXPECT_TRUE(registry_.Check().ok());
}

TEST_F(FaultRegistryTest, InvalidScenarioKeepsTheRunningOne) {
  ASSERT_TRUE(registry_.Start(OneRule("first")).ok());
  EXPECT_FALSE(registry_.Start(Scenario{.rules = {Rule{.id = "no action"}}}).ok());
  EXPECT_EQ(registry_.Account()->name, "first");
}

TEST_F(FaultRegistryTest, RetryTestReplacesTheScenarioForARequest) {
  ASSERT_TRUE(registry_.Start(OneRule("everybody's")).ok());
  ASSERT_TRUE(registry_.AddRetryTest("t-1", OneRule("mine")).ok());
  EXPECT_EQ(registry_.Find("t-1").value()->Account().name, "mine");
  EXPECT_EQ(registry_.Find("").value()->Account().name, "everybody's");
  EXPECT_EQ(registry_.Find("t-2").error().kind, ErrorKind::kNotFound);
}

TEST_F(FaultRegistryTest, RetryTestsAreBounded) {
  for (std::size_t i = 0; i < FaultRegistry::kMaxRetryTests; ++i)
    ASSERT_TRUE(registry_.AddRetryTest(std::to_string(i), OneRule("one")).ok());
  const auto beyond = registry_.AddRetryTest("beyond", OneRule("one"));
  ASSERT_FALSE(beyond.ok());
  EXPECT_NE(beyond.error().message.find("the limit is 1000; delete finished tests"),
            std::string::npos)
      << beyond.error().message;
  ASSERT_TRUE(registry_.RemoveRetryTest("7").ok());
  EXPECT_TRUE(registry_.AddRetryTest("beyond", OneRule("one")).ok());
}

TEST_F(FaultRegistryTest, KeepsRetryTestsById) {
  ASSERT_TRUE(registry_.AddRetryTest("b", OneRule("b")).ok());
  ASSERT_TRUE(registry_.AddRetryTest("a", OneRule("a")).ok());
  EXPECT_EQ(registry_.AddRetryTest("a", OneRule("again")).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(registry_.RetryTests(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(registry_.RetryTestAccount("a").value().name, "a");
  ASSERT_TRUE(registry_.RemoveRetryTest("a").ok());
  EXPECT_EQ(registry_.RetryTestAccount("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(registry_.RemoveRetryTest("a").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(registry_.idle());
  ASSERT_TRUE(registry_.RemoveRetryTest("b").ok());
  EXPECT_TRUE(registry_.idle());
}

}  // namespace
}  // namespace penstock::emulator::faults
