#include "emulator/faults/scenario/running_scenario.h"

#include <atomic>
#include <thread>

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::seconds;

const WallTime kBegin = WallTime(std::chrono::hours(24 * 20'000));

Rule MakeRule(std::string id, Condition when = {}, Limit limit = {}) {
  return {.id = std::move(id),
          .when = std::move(when),
          .actions = {{.action = StallAction{}, .at = {}}},
          .limit = std::move(limit)};
}

// An action that fails the attempt.
Rule MakeDrop(std::string id, Condition when = {}, Limit limit = {}) {
  Rule rule = MakeRule(std::move(id), std::move(when), std::move(limit));
  rule.actions = {{.action = DropAction{}, .at = {}}};
  return rule;
}

std::shared_ptr<RunningScenario> Start(std::vector<Rule> rules, std::uint64_t seed = 1) {
  return RunningScenario::Start({.name = "test", .seed = seed, .rules = std::move(rules)}, kBegin)
      .value();
}

// Sends a request. Returns the ids of the rules that fire, separated by spaces.
std::string SendRequest(RunningScenario& scenario, const char* method = "GET",
                        const std::string& target = "/b/k",
                        std::vector<std::pair<std::string, std::string>> headers = {},
                        WallTime now = kBegin) {
  const TestRequest request(method, target, std::move(headers));
  std::string ids;
  for (const auto& ticket : Meet(scenario, request, now)) {
    ticket->Done(ticket->rule().actions.front().action);
    ids += (ids.empty() ? "" : " ") + ticket->rule().id;
  }
  return ids;
}

TEST(RunningScenarioTest, RulesCombineUpToAFinalOne) {
  Rule final = MakeRule("b");
  final.final = true;
  const auto scenario = Start({MakeRule("a"), final, MakeRule("c")});
  EXPECT_EQ(SendRequest(*scenario), "a b");
}

TEST(RunningScenarioTest, SpecificAndGeneralRulesKeepTheirOrder) {
  const auto scenario =
      Start({MakeRule("any"), MakeRule("get", {.operations = {"GetObject"}}), MakeRule("more")});
  EXPECT_EQ(SendRequest(*scenario), "any get more");
  EXPECT_EQ(SendRequest(*scenario, "PUT"), "any more");
  EXPECT_EQ(SendRequest(*scenario, "PATCH"), "any more") << "also for unknown operations";
}

TEST(RunningScenarioTest, NthCountsMatchingRequests) {
  const auto scenario =
      Start({MakeRule("r", {.operations = {"GetObject"}, .nth = NumberSet::Parse("2,4").value()})});
  EXPECT_EQ(SendRequest(*scenario), "");
  EXPECT_EQ(SendRequest(*scenario, "PUT"), "");
  EXPECT_EQ(SendRequest(*scenario), "r");
  EXPECT_EQ(SendRequest(*scenario), "");
  EXPECT_EQ(SendRequest(*scenario), "r");
}

TEST(RunningScenarioTest, TimesAreCountedPerGroup) {
  const auto scenario = Start(
      {MakeRule("all", {}, {.times = 3}), MakeRule("key", {}, {.times = 1, .per = Per::kKey})});
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/1"), "all key");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/1"), "all");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/2"), "all key");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/2"), "");
}

TEST(RunningScenarioTest, InvocationIsIdentifiedByIdOrByRetries) {
  const auto scenario = Start({MakeDrop("r", {}, {.times = 2, .per = Per::kInvocation})});
  for (const char* invocation : {"1", "2"}) {
    const auto ask = [&] {
      return SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", invocation}});
    };
    EXPECT_EQ(ask(), "r");
    EXPECT_EQ(ask(), "r");
    EXPECT_EQ(ask(), "");
    EXPECT_EQ(ask(), "");
  }
  for (const char* call : {"first", "second"}) {
    EXPECT_EQ(SendRequest(*scenario), "r") << call;
    EXPECT_EQ(SendRequest(*scenario), "r") << call;
    EXPECT_EQ(SendRequest(*scenario), "")
        << "the attempt succeeded, so the next request is a new invocation";
  }
}

TEST(RunningScenarioTest, WithoutAnIdSuccessfulRequestsAreNewInvocations) {
  const auto scenario = Start({MakeRule("r", {}, {.times = 1, .per = Per::kInvocation})});
  EXPECT_EQ(SendRequest(*scenario), "r");
  EXPECT_EQ(SendRequest(*scenario), "r");
}

TEST(RunningScenarioTest, OnlyFailingActionsCountAsFailures) {
  const auto scenario = Start({MakeRule("slow"), MakeDrop("lost", {.unless_failed = 4})});
  std::string met;
  for (int i = 0; i < 6; ++i)
    met += SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", "1"}}) + "; ";
  EXPECT_EQ(met, "slow lost; slow lost; slow lost; slow lost; slow; slow; ");
}

TEST(RunningScenarioTest, AttemptFailsAtMostOnce) {
  Rule first = MakeDrop("a", {.unless_failed = 2});
  const auto scenario = Start({first, MakeDrop("b", {.unless_failed = 2})});
  std::string met;
  for (int i = 0; i < 4; ++i)
    met += SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", "1"}}) + "; ";
  EXPECT_EQ(met, "a b; a b; ; ; ");
}

TEST(RunningScenarioTest, FailsConcurrentClientsWithoutIdsAtTheConfiguredRate) {
  const auto scenario = Start({MakeDrop("r", {.unless_failed = 3, .probability = 0.9})});
  int met = 0;
  for (int i = 0; i < 300; ++i)
    met += SendRequest(*scenario, "GET", "/b?list-type=2").empty() ? 0 : 1;
  EXPECT_NEAR(met, 213, 15) << "0.9 + 0.81 + 0.729 of 1 + 0.9 + 0.81 + 0.729";
}

TEST(RunningScenarioTest, KeyOfAListingIsItsPrefix) {
  const auto scenario = Start({MakeRule("r", {.key = Pattern::Prefix("data/")})});
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b?list-type=2&prefix=data/a"), "r");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b?list-type=2&prefix=dat"), "");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b?list-type=2"), "");
}

TEST(RunningScenarioTest, UnmatchedRequestIsCountedWithoutReadingFacts) {
  const auto scenario = Start({MakeRule("r", {.operations = {"PutObject"}})});
  class NoClock final : public Clock {
    WallTime Now() const override { throw 0; }
    MonotonicTime Monotonic() const override { throw 0; }
  };
  const TestRequest request("GET", "/b/k");
  LazyRequestProperties properties(request.exchange());
  EXPECT_TRUE(scenario->Meet(properties, NoClock()).empty());
  EXPECT_EQ(scenario->Account().requests, 1U);
}

TEST(RunningScenarioTest, UnfiredTicketIsReturned) {
  const auto scenario = Start({MakeRule("r", {}, {.times = 1})});
  const TestRequest request("GET", "/b/k");
  {
    auto met = faults::Meet(*scenario, request, kBegin);
    ASSERT_EQ(met.size(), 1U);
    EXPECT_EQ(SendRequest(*scenario), "") << "no other request gets the claim in the meantime";
    EXPECT_EQ(scenario->Account().rules[0].under_way, 1U);
  }
  EXPECT_EQ(scenario->Account().rules[0].fired, 0U);
  EXPECT_FALSE(scenario->Account().complete);
  EXPECT_EQ(SendRequest(*scenario), "r");
  EXPECT_TRUE(scenario->Account().complete);
}

TEST(RunningScenarioTest, RuleFiresWithItsLastAction) {
  Rule rule = MakeRule("r");
  rule.actions.push_back({.action = DropAction{}, .at = {}});
  const auto scenario = Start({rule});
  EXPECT_EQ(SendRequest(*scenario), "r");  // One of two actions.
  EXPECT_EQ(scenario->Account().fired, 0U);
}

TEST(RunningScenarioTest, ScenarioIsCompleteWhenAllRulesFiredOftenEnough) {
  Rule optional = MakeRule("o", {.key = Pattern("never")});
  optional.must_fire = false;
  const auto scenario = Start({MakeRule("twice", {}, {.times = 2}), optional,
                               MakeRule("once", {.operations = {"PutObject"}})});
  SendRequest(*scenario);
  SendRequest(*scenario);
  EXPECT_FALSE(scenario->Account().complete);
  SendRequest(*scenario, "PUT");
  const ScenarioAccount account = scenario->Account();
  EXPECT_TRUE(account.complete);
  EXPECT_EQ(account.requests, 3U);
  EXPECT_EQ(account.fired, 3U);
  EXPECT_EQ(account.rules[0].matched, 3U);
  EXPECT_EQ(account.rules[0].request_ids, (std::vector<std::string>{"REQUEST", "REQUEST"}));
}

TEST(RunningScenarioTest, WindowsAndTimeToLiveUseTheGivenClock) {
  const auto scenario =
      Start({MakeRule("w", {.window = TimeWindow{.from = seconds(1), .to = seconds(3)}}),
             MakeRule("t", {}, {.time_to_live = seconds(2)})});
  const auto at = [&](int second) {
    return SendRequest(*scenario, "GET", "/b/k", {}, kBegin + seconds(second));
  };
  EXPECT_EQ(at(0), "t");
  EXPECT_EQ(at(1), "w t");
  EXPECT_EQ(at(2), "w");
  EXPECT_EQ(at(3), "");
}

TEST(RunningScenarioTest, AfterCountsAllRequestsAndBytes) {
  const auto scenario = Start(
      {MakeRule("r", {.operations = {"GetObject"}, .after_requests = 2, .after_bytes = 100})});
  SendRequest(*scenario, "PUT");
  SendRequest(*scenario, "PUT");
  EXPECT_EQ(SendRequest(*scenario), "");
  scenario->CountBytes(100);
  EXPECT_EQ(SendRequest(*scenario), "r");
}

TEST(RunningScenarioTest, RetriesDrawAgain) {
  const auto scenario = Start({MakeRule("r", {.probability = 0.25})});
  int met = 0;
  for (int i = 0; i < 2'000; ++i)
    met += SendRequest(*scenario, "GET", "/b/" + std::to_string(i)).empty() ? 0 : 1;
  EXPECT_NEAR(met, 500, 100);
  int of_one_key = 0;
  for (int i = 0; i < 400; ++i) of_one_key += SendRequest(*scenario).empty() ? 0 : 1;
  EXPECT_NEAR(of_one_key, 100, 45);
}

TEST(RunningScenarioTest, DrawDependsOnlyOnSeedRuleAndRequest) {
  const auto pattern = [](RunningScenario& scenario, bool backwards) {
    std::string met(200, '.');
    for (int i = 0; i < 200; ++i) {
      const int key = backwards ? 199 - i : i;
      if (!SendRequest(scenario, "GET", "/b/" + std::to_string(key)).empty())
        met[static_cast<std::size_t>(key)] = 'x';
    }
    return met;
  };
  const std::string first = pattern(*Start({MakeRule("r", {.probability = 0.3})}, 7), false);
  EXPECT_EQ(pattern(*Start({MakeRule("r", {.probability = 0.3})}, 7), true), first)
      << "the order has no effect";
  EXPECT_NE(pattern(*Start({MakeRule("r", {.probability = 0.3})}, 8), false), first);
  EXPECT_NE(pattern(*Start({MakeRule("s", {.probability = 0.3})}, 7), false), first);
}

TEST(RunningScenarioTest, ProbabilityRampsUp) {
  const Rule rule = MakeRule(
      "r", {.window = TimeWindow{.from = seconds(10), .ramp = seconds(10)}, .probability = 1});
  const auto share = [&](int second) {
    const auto scenario = Start({rule});
    int met = 0;
    for (int i = 0; i < 400; ++i)
      met += SendRequest(*scenario, "GET", "/b/" + std::to_string(i), {}, kBegin + seconds(second))
                     .empty()
                 ? 0
                 : 1;
    return met / 400.0;
  };
  EXPECT_EQ(share(9), 0);
  EXPECT_NEAR(share(15), 0.5, 0.12);
  EXPECT_EQ(share(20), 1);
}

TEST(RunningScenarioTest, RampToleratesAClockSetBackByCenturies) {
  constexpr seconds kFar(1'000'000'000);
  const Rule rule = MakeRule("r", {.window = TimeWindow{.from = kFar, .ramp = seconds(10)}});
  const auto scenario =
      RunningScenario::Start({.name = "test", .rules = {rule}}, WallTime::max() - seconds(10))
          .value();
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/k", {}, WallTime()), "");
}

TEST(RunningScenarioTest, BudgetLimitsMatchesPerWindow) {
  const auto scenario = Start({MakeRule("r", {}, {.budget = Limit::Budget{.most = 3, .of = 10}})});
  std::string met;
  for (int i = 0; i < 30; ++i) met += SendRequest(*scenario).empty() ? '.' : 'f';
  EXPECT_EQ(met, "fff.......fff.......fff.......");
}

TEST(RunningScenarioTest, UnfiredTicketReturnsToTheBudget) {
  const auto scenario = Start({MakeRule("r", {}, {.budget = Limit::Budget{.most = 1, .of = 10}})});
  const TestRequest request("GET", "/b/k");
  EXPECT_EQ(faults::Meet(*scenario, request, kBegin).size(), 1U)
      << "selected and returned without firing";
  EXPECT_EQ(SendRequest(*scenario), "r");
  EXPECT_EQ(SendRequest(*scenario), "");
}

TEST(RunningScenarioTest, LateReturnFreesTheRightRequestInTheBudget) {
  const auto scenario = Start({MakeRule("r", {}, {.budget = Limit::Budget{.most = 2, .of = 4}})});
  const TestRequest request("GET", "/b/k");
  auto first = faults::Meet(*scenario, request, kBegin);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(SendRequest(*scenario), "r");
  EXPECT_EQ(SendRequest(*scenario), "");
  first.clear();
  EXPECT_EQ(SendRequest(*scenario), "r")
      << "of the last four requests, the rule applies to the second and this one";
  EXPECT_EQ(SendRequest(*scenario), "");
  auto late = faults::Meet(*scenario, request, kBegin);
  ASSERT_EQ(late.size(), 1U);
  for (int i = 0; i < 4; ++i) SendRequest(*scenario);
  late.clear();  // The request has left the budget's window.
  EXPECT_EQ(scenario->Account().rules[0].under_way, 0U);
}

TEST(RunningScenarioTest, TimesPerKeyWorksForAnyNumberOfKeys) {
  const auto scenario = Start({MakeRule("r", {}, {.times = 1, .per = Per::kKey})});
  const auto key = [](int number) { return "/b/" + std::to_string(number); };
  std::size_t met = 0;
  for (int i = 0; i < 70'000; ++i) met += SendRequest(*scenario, "GET", key(i)).empty() ? 0 : 1;
  EXPECT_EQ(met, 70'000U);
  EXPECT_EQ(SendRequest(*scenario, "GET", key(69'999)), "");
  EXPECT_EQ(SendRequest(*scenario, "GET", key(70'000 - 65'536)), "")
      << "the oldest key that is still remembered";
  EXPECT_EQ(SendRequest(*scenario, "GET", key(0)), "r") << "evicted: the count starts again";
}

TEST(RunningScenarioTest, RemembersFailedInvocationsAmongManyOthers) {
  const auto scenario = Start({MakeDrop("r", {.unless_failed = 1})});
  const auto ask = [&](const std::string& invocation) {
    return SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", invocation}});
  };
  for (int i = 0; i < 65'535; ++i) ask(std::to_string(i));
  EXPECT_EQ(ask("mine"), "r");
  EXPECT_EQ(ask("one more"), "r");
  EXPECT_EQ(ask("mine"), "");
  EXPECT_EQ(ask("0"), "r") << "evicted: the count starts again";
}

TEST(RunningScenarioTest, UnlessFailedStopsAfterEnoughFailures) {
  const auto scenario = Start({MakeDrop("r", {.unless_failed = 3})});
  std::string met;
  for (int i = 0; i < 6; ++i)
    met +=
        SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", "1"}}).empty() ? '.' : 'f';
  EXPECT_EQ(met, "fff...");
  EXPECT_EQ(SendRequest(*scenario, "GET", "/b/k", {{"amz-sdk-invocation-id", "2"}}), "r");
}

TEST(RunningScenarioTest, TimesHoldsAcrossEightThreads) {
  const auto scenario = Start({MakeRule("r", {}, {.times = 2})});
  std::atomic<int> met{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) met += SendRequest(*scenario).empty() ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_EQ(met, 2);
  EXPECT_EQ(scenario->Account().rules[0].matched, 1'600U);
}

TEST(RunningScenarioTest, RejectsInvalidRulesAndNamesThem) {
  const auto message = [](std::vector<Rule> rules) {
    return RunningScenario::Start({.name = "t", .rules = std::move(rules)}, kBegin).error().message;
  };
  EXPECT_EQ(message({MakeRule("a"), MakeRule("a")}),
            "rule 'a': duplicate id; give each rule a unique id");
  EXPECT_EQ(message({{.id = "a"}}), "rule 'a': has no action; add at least one");
  EXPECT_EQ(message({MakeRule("")}), "a rule has no id");
  EXPECT_EQ(message({MakeRule("a", {.probability = 1.5})}),
            "rule 'a': the probability must be from 0 to 1");
  EXPECT_EQ(message({MakeRule("a", {}, {.times = 0})}),
            "rule 'a': times is 0; remove the rule instead");
  EXPECT_EQ(message({MakeRule("a", {}, {.time_to_live = std::chrono::nanoseconds(0)})}),
            "rule 'a': ttl_s is 0; remove the rule instead");
  EXPECT_EQ(message({MakeRule("a", {.probability = 0})}),
            "rule 'a': must fire, but its probability is 0; raise it, or remove must_fire");
  EXPECT_EQ(message({MakeRule("a", {}, {.budget = Limit::Budget{.most = 1, .of = 0}})}),
            "rule 'a': budget.of must be from 1 to 1024 requests, not 0");
}

TEST(RunningScenarioTest, AccountCheckNamesRulesThatDidNotFire) {
  const auto scenario =
      Start({MakeRule("met", {}, {.times = 1}), MakeRule("unmet", {.operations = {"PutObject"}})});
  EXPECT_EQ(SendRequest(*scenario), "met");
  const auto checked = CheckAccount(scenario->Account());
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(checked.error().message,
            "faults that were planned did not happen (seed 1, 1 requests seen): 'unmet' fired for "
            "0 of the 0 requests that matched");
  EXPECT_TRUE(CheckAccount({.name = "nothing planned"}).ok());
}

}  // namespace
}  // namespace penstock::emulator::faults
