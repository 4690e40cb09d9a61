#include "emulator/faults/fault_desk.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"

namespace penstock::emulator::faults {
namespace {

Scenario OneRule(std::string_view name) {
  return ParseScenario(R"({"name": ")" + std::string(name) + R"(", "rules": [{"when": {"operation": "GetObject"}, "do": {"slow_down": {}}}]})").value();
}

class FaultDeskTest : public testing::Test {
 protected:
  FakeClock clock_;
  FaultDesk desk_{clock_};
};

TEST_F(FaultDeskTest, IsIdleUntilSomethingRuns) {
  EXPECT_TRUE(desk_.idle());
  EXPECT_FALSE(desk_.Account());
  ASSERT_TRUE(desk_.Start(OneRule("first")).ok());
  EXPECT_FALSE(desk_.idle());
  EXPECT_EQ(desk_.Account()->name, "first");
  desk_.Stop();
  EXPECT_TRUE(desk_.idle());
}

TEST_F(FaultDeskTest, AScenarioTakesTheOthersPlace) {
  ASSERT_TRUE(desk_.Start(OneRule("first")).ok());
  const auto first = desk_.Find("").value();
  ASSERT_TRUE(desk_.Start(OneRule("second")).ok());
  EXPECT_EQ(desk_.Account()->name, "second");
  EXPECT_EQ(first->Account().name, "first") << "requests under way still have theirs";
}

TEST_F(FaultDeskTest, WhatWasPlannedAndReplacedIsMissedUntilItIsForgotten) {
  EXPECT_TRUE(desk_.Check().ok());
  ASSERT_TRUE(desk_.Start(OneRule("first")).ok());
  ASSERT_TRUE(desk_.Start(Scenario{.name = "complete"}).ok());
  ASSERT_EQ(desk_.Account()->replaced.size(), 1U);
  EXPECT_EQ(desk_.Account()->replaced[0].name, "first");
  EXPECT_EQ(desk_.Check().error().kind, ErrorKind::kPreconditionFailed);
  desk_.Stop();
  EXPECT_TRUE(desk_.idle());
  EXPECT_EQ(desk_.Check().error().message,
            "faults that were planned had not happened when their scenario was replaced or cleared (seed 1, 0 requests seen): "
            "'rule-1' fired for 0 of the 0 requests that matched");
  desk_.Forget();
  EXPECT_TRUE(desk_.Check().ok());
  ASSERT_TRUE(desk_.Start(Scenario{.name = "complete"}).ok());
  desk_.Stop();
  EXPECT_TRUE(desk_.Check().ok());
}

TEST_F(FaultDeskTest, WhatEndsBehindItsReplacementHasHappened) {
  ASSERT_TRUE(desk_.Start(OneRule("first")).ok());
  const TestRequest request("GET", "/b/k");
  const auto tickets = Meet(*desk_.Find("").value(), request);
  desk_.Stop();
  EXPECT_FALSE(desk_.Check().ok());
  tickets.at(0)->Done(tickets.at(0)->rule().deeds.front().deed);
  EXPECT_TRUE(desk_.Check().ok());
}

TEST_F(FaultDeskTest, ADefaultIsNobodysPlanAndOnlySoManyAreKept) {
  ASSERT_TRUE(desk_.Start(OneRule("default"), /*by_default=*/true).ok());
  EXPECT_FALSE(desk_.Check().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(desk_.Start(OneRule(std::to_string(i))).ok());
  const auto replaced = desk_.Account()->replaced;
  ASSERT_EQ(replaced.size(), FaultDesk::kMostReplaced);
  EXPECT_EQ(replaced.front().name, "0");
}

TEST_F(FaultDeskTest, RestoreBringsTheDefaultBackAndForgetsThePlan) {
  ASSERT_TRUE(desk_.Start(OneRule("default"), /*by_default=*/true).ok());
  ASSERT_TRUE(desk_.Start(OneRule("planned")).ok());
  ASSERT_TRUE(desk_.Restore().ok());
  EXPECT_EQ(desk_.Account()->name, "default");
  EXPECT_TRUE(desk_.Account()->replaced.empty());
  ASSERT_TRUE(desk_.Start(Scenario{.name = "complete"}).ok());
  EXPECT_TRUE(desk_.Check().ok()) << "the default is nobody's plan when it is restored either";
}

TEST_F(FaultDeskTest, WithoutADefaultRestoreForgets) {
  ASSERT_TRUE(desk_.Start(OneRule("planned")).ok());
  ASSERT_TRUE(desk_.Restore().ok());
  EXPECT_TRUE(desk_.idle());
  EXPECT_TRUE(desk_.Check().ok());
}

TEST_F(FaultDeskTest, ABadScenarioLeavesTheRunningOne) {
  ASSERT_TRUE(desk_.Start(OneRule("first")).ok());
  EXPECT_FALSE(desk_.Start(Scenario{.rules = {Rule{.id = "no deed"}}}).ok());
  EXPECT_EQ(desk_.Account()->name, "first");
}

TEST_F(FaultDeskTest, ARequestThatNamesARetryTestMeetsThatAlone) {
  ASSERT_TRUE(desk_.Start(OneRule("everybody's")).ok());
  ASSERT_TRUE(desk_.AddRetryTest("t-1", OneRule("mine")).ok());
  EXPECT_EQ(desk_.Find("t-1").value()->Account().name, "mine");
  EXPECT_EQ(desk_.Find("").value()->Account().name, "everybody's");
  EXPECT_EQ(desk_.Find("t-2").error().kind, ErrorKind::kNotFound);
}

TEST_F(FaultDeskTest, RetryTestsAreBounded) {
  for (std::size_t i = 0; i < FaultDesk::kMostRetryTests; ++i) ASSERT_TRUE(desk_.AddRetryTest(std::to_string(i), OneRule("one")).ok());
  const auto beyond = desk_.AddRetryTest("beyond", OneRule("one"));
  ASSERT_FALSE(beyond.ok());
  EXPECT_NE(beyond.error().message.find("at most 1000; delete those that are done"), std::string::npos) << beyond.error().message;
  ASSERT_TRUE(desk_.RemoveRetryTest("7").ok());
  EXPECT_TRUE(desk_.AddRetryTest("beyond", OneRule("one")).ok());
}

TEST_F(FaultDeskTest, KeepsRetryTestsById) {
  ASSERT_TRUE(desk_.AddRetryTest("b", OneRule("b")).ok());
  ASSERT_TRUE(desk_.AddRetryTest("a", OneRule("a")).ok());
  EXPECT_EQ(desk_.AddRetryTest("a", OneRule("again")).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(desk_.RetryTests(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(desk_.RetryTestAccount("a").value().name, "a");
  ASSERT_TRUE(desk_.RemoveRetryTest("a").ok());
  EXPECT_EQ(desk_.RetryTestAccount("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(desk_.RemoveRetryTest("a").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(desk_.idle());
  ASSERT_TRUE(desk_.RemoveRetryTest("b").ok());
  EXPECT_TRUE(desk_.idle());
}

}  // namespace
}  // namespace penstock::emulator::faults
