#include "emulator/faults/registry/fault_plan.h"

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

class FaultPlanTest : public testing::Test {
 protected:
  std::shared_ptr<FaultPlan> Plan(std::string_view rules) {
    running_ = RunningScenario::Start(ParseScenario(rules).value(), WallTime()).value();
    return std::make_shared<FaultPlan>(faults::Meet(*running_, request_));
  }
  // Evaluates the same request once more.
  std::shared_ptr<FaultPlan> Again() {
    return std::make_shared<FaultPlan>(Meet(*running_, request_));
  }
  ScenarioAccount account() const { return running_->Account(); }

 private:
  const TestRequest request_{"POST", "/bucket?delete"};
  std::shared_ptr<RunningScenario> running_;
};

TEST_F(FaultPlanTest, StepsAreOrderedByPoint) {
  const auto plan = Plan(
      R"([{"id": "a", "do": [{"stall": {"ms": 1}, "at": "body_out@9"}, {"stall": {"ms": 2}, "at": "headers"}]},
                             {"id": "b", "do": [{"stall": {"ms": 3}, "at": "body_out@4"}, {"stall": {"ms": 4}, "at": "headers"}]}])");
  std::vector<std::int64_t> order;
  for (const FaultPlan::Step& step : plan->steps())
    order.push_back(std::get<StallAction>(step.timed->action).time.count());
  EXPECT_EQ(order, (std::vector<std::int64_t>{2, 4, 3, 1}));
  EXPECT_EQ(plan->At(Stage::kHeaders).size(), 2U);
  EXPECT_EQ(plan->At(Stage::kBodyOut).size(), 2U);
  EXPECT_TRUE(plan->At(Stage::kBodyIn).empty());
}

TEST_F(FaultPlanTest, RuleFiresWithItsLastAction) {
  auto plan = Plan(
      R"([{"id": "a", "do": [{"stall": {"ms": 1}}, {"stall": {"ms": 1}, "at": "close"}]}, {"id": "b", "do": {"stall": {"ms": 1}}}])");
  FaultPlan::Done(plan->steps()[0]);
  FaultPlan::Done(plan->steps()[0]);
  EXPECT_EQ(plan->FiredRules(), "") << "the same action counts once";
  FaultPlan::Done(plan->steps()[1]);
  EXPECT_EQ(plan->FiredRules(), "b");
  EXPECT_EQ(account().rules[1].fired, 1U) << "counted at once, not at the end of the request";
  EXPECT_EQ(account().rules[0].under_way, 1U);
  FaultPlan::Done(plan->steps()[2]);
  EXPECT_EQ(plan->FiredRules(), "a,b");
  plan.reset();
  EXPECT_EQ(account().fired, 2U);
}

TEST_F(FaultPlanTest, UnfinishedTicketsAreReturned) {
  auto plan = Plan(R"([{"do": {"stall": {"ms": 1}}, "limit": {"times": 1}}])");
  plan.reset();
  EXPECT_EQ(account().rules[0].fired, 0U);
  EXPECT_EQ(account().rules[0].under_way, 0U);
}

TEST_F(FaultPlanTest, PauseFailsTheAttemptIfTheClientLeaves) {
  constexpr std::string_view kSlow =
      R"([{"do": {"stall": {"ms": 1}}, "when": {"unless_failed": 1}}])";
  auto plan = Plan(kSlow);
  plan->FailAttempts();
  EXPECT_FALSE(Again()->steps().empty()) << "no action had happened yet";
  plan = Plan(kSlow);
  FaultPlan::Done(plan->steps()[0]);
  plan->FailAttempts();
  EXPECT_TRUE(Again()->steps().empty());
}

TEST_F(FaultPlanTest, FirstMatchingRuleFailsAnEntry) {
  const auto plan = Plan(R"([{"id": "a", "do": {"partial_failure": {"key": "x*", "most": 1}}},
                             {"id": "b", "do": {"partial_failure": {"code": "AccessDenied", "entries": "2-3"}}},
                             {"id": "c", "do": {"partial_failure": {"key": "none"}}}])");
  const auto code = [&](std::size_t place, const char* key) {
    const auto refusal = plan->RefuseEntry(place, key);
    return refusal ? refusal->code : "";
  };
  EXPECT_EQ(code(0, "y"), "");
  EXPECT_EQ(code(1, "x1"), "InternalError");
  EXPECT_EQ(code(2, "x2"), "AccessDenied") << "the first rule has reached its limit of one entry";
  EXPECT_EQ(code(3, "x3"), "");
  EXPECT_EQ(plan->FiredRules(), "a,b");
}

TEST_F(FaultPlanTest, OnlyOneActionReplacesTheOperation) {
  const auto plan = Plan(R"([{"do": {"slow_down": {}}, "final": false}, {"do": {"reset": {}}}])");
  EXPECT_FALSE(plan->carried_out());
  EXPECT_TRUE(plan->SetReplacement(plan->steps()[0]));
  EXPECT_FALSE(plan->SetReplacement(plan->steps()[1]));
  EXPECT_EQ(plan->replacement(), &plan->steps()[0]);
  plan->Begin();
  EXPECT_TRUE(plan->carried_out());
  plan->Stop();
  EXPECT_FALSE(plan->carried_out());
}

}  // namespace
}  // namespace penstock::emulator::faults
