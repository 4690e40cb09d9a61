#include "emulator/faults/rules/action_effects.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "emulator/faults/documents/scenario_document.h"

namespace penstock::emulator::faults {
namespace {

// Returns the problem of a rule with these actions. Empty: none.
std::string Problem(const std::string& actions) {
  const auto scenario = ParseScenario("[{\"id\": \"r\", \"do\": [" + actions + "]}]");
  return scenario.ok() ? std::string() : scenario.error().message;
}

TEST(ActionConflictsTest, OnlyOneActionReplacesTheResponse) {
  EXPECT_EQ(Problem(R"({"slow_down": {}}, {"error": {}})"),
            "rule 'r': its action 'error' cannot happen after its action 'slow_down', so the rule "
            "would never fire; put each action in its own rule");
  EXPECT_NE(Problem(R"({"error": {}}, {"redirect": {}})").find("its action 'error' cannot"),
            std::string::npos)
      << "a redirect happens first";
  for (const char* const actions : {R"({"error": {}}, {"reset": {}, "at": "after_commit"})",
                                    R"({"credentials": {}}, {"late_error": {}})",
                                    R"({"expect_100": {"mode": "refuse"}}, {"error": {}})",
                                    R"({"error": {}}, {"error": {}, "at": "after_commit"})"}) {
    EXPECT_NE(Problem(actions).find(" cannot happen after "), std::string::npos)
        << actions << ": " << Problem(actions);
  }
}

TEST(ActionConflictsTest, RejectsActionsThatNoneOfTheOperationsCanMeet) {
  const auto problem = [](const std::string& operation, const std::string& action) {
    const auto scenario = ParseScenario(R"([{"id": "r", "when": {"operation": )" + operation +
                                        R"(}, "do": )" + action + "}]");
    return scenario.ok() ? std::string() : scenario.error().message;
  };
  EXPECT_EQ(problem(R"("PutObject")", R"({"partial_failure": {}})"),
            "rule 'r': its action 'partial_failure' never happens to PutObject, so the rule would "
            "never fire; docs/reference/faults.md lists its operations");
  EXPECT_EQ(
      problem(R"(["GetObject", "ListParts"])",
              R"([{"stall": {"ms": 1}}, {"duplicate_apply": {}}])"),
      "rule 'r': its action 'duplicate_apply' never happens to GetObject or its other "
      "operations, so the rule would never fire; docs/reference/faults.md lists its operations");
  const std::string partial = R"({"commit_partial": {"bytes": 1, "unlike_s3": true}})";
  const std::string hidden = R"({"delay_visibility": {"ms": 1, "unlike_s3": true}})";
  EXPECT_NE(problem(R"("CopyObject")", partial), "");
  EXPECT_NE(problem(R"("UploadPart")", hidden), "");
  for (const char* const met :
       {R"("@write")", R"("PutObject")", R"(["UploadPart", "PutObject"])"}) {
    EXPECT_EQ(problem(met, partial), "");
    EXPECT_EQ(problem(met, hidden), "");
    EXPECT_EQ(problem(met, R"({"duplicate_apply": {}})"), "");
  }
  EXPECT_EQ(problem(R"("PostObject")", partial), "");
  EXPECT_EQ(problem(R"("UploadPart")", partial), "");
  EXPECT_EQ(problem(R"("DeleteObject")", hidden), "");
  EXPECT_EQ(problem(R"("DeleteBucket")", R"({"duplicate_apply": {}})"), "");
  EXPECT_EQ(problem(R"("*Object*")", R"({"partial_failure": {}})"), "");
  EXPECT_EQ(Problem(R"({"partial_failure": {}})"), "");
}

TEST(ActionConflictsTest, RejectsActionsAfterTheEndOfTheResponse) {
  for (
      const char* const actions :
      {R"({"reset": {}, "at": "headers"}, {"stall": {"ms": 5}, "at": "body_out@3"})",
       R"({"corrupt": {}, "at": "body_out@7"}, {"truncate": {"mode": "fin"}, "at": "body_out@4"})",
       R"({"corrupt": {}, "at": "body_out@4"}, {"truncate": {"mode": "no-terminator"}, "at": "body_out@4"})",
       R"({"truncate": {"mode": "no-terminator"}, "at": "body_out@4"}, {"stall": {"ms": 5}, "at": "close"})",
       R"({"black_hole": {"ms": 5}, "at": "status"}, {"latency": {"ms": 5}}, {"stall": {"ms": 1}, "at": "close"})",
       R"({"slow_down": {}}, {"stall": {"ms": 5}, "at": "body_in"})",
       R"({"duplicate_apply": {}}, {"error": {}, "at": "headers"})",
       R"({"duplicate_apply": {}}, {"error": {}})",
       R"({"reset": {}, "at": "accept"}, {"goaway": {"requests": 1}})"}) {
    EXPECT_NE(Problem(actions).find(" cannot happen after "), std::string::npos)
        << actions << ": " << Problem(actions);
  }
}

TEST(ActionConflictsTest, ActionsThatShapeResponsesApplyToErrors) {
  for (
      const char* const actions :
      {R"({"slow_down": {}}, {"header_lie": {"set": {"a": "b"}}}, {"stall": {"ms": 2}, "at": "close"})",
       R"({"stall": {"ms": 5}, "at": "headers"}, {"error": {}})",
       R"({"error": {}}, {"truncate": {}, "at": "body_out@4"})",
       R"({"error": {}}, {"latency": {"ms": 3}}, {"reset": {}, "at": "body_out@9"})",
       R"({"truncate": {"mode": "fin"}, "at": "body_out@4"}, {"corrupt": {}, "at": "body_out@3"})",
       R"({"truncate": {"mode": "length-lie"}, "at": "body_out@4"}, {"stall": {"ms": 5}, "at": "close"})",
       R"({"duplicate_apply": {}}, {"reset": {}, "at": "after_commit"})",
       R"({"expect_100": {"mode": "late", "ms": 4}}, {"error": {}})"}) {
    EXPECT_EQ(Problem(actions), "") << actions;
  }
}

TEST(FailingActionTest, RetryableErrorsFailAnAttempt) {
  for (const int status : {408, 429, 500, 502, 503})
    EXPECT_TRUE(FailsAttempt(ErrorAction{.status = status, .code = "X"})) << status;
  for (const char* code : {"RequestTimeout", "ExpiredToken"})
    EXPECT_TRUE(FailsAttempt(ErrorAction{.status = 400, .code = code})) << code;
  EXPECT_FALSE(FailsAttempt(ErrorAction{.status = 404, .code = "NoSuchKey"}));
  EXPECT_FALSE(FailsAttempt(ErrorAction{.status = 403, .code = "AccessDenied"}));
}

TEST(FailingActionTest, LostAndCorruptedResponsesFailAnAttempt) {
  for (const DropKind kind :
       {DropKind::kReset, DropKind::kFin, DropKind::kHalfClose, DropKind::kHang}) {
    EXPECT_TRUE(FailsAttempt(DropAction{.kind = kind}));
  }
  EXPECT_TRUE(FailsAttempt(TruncateAction{}));
  EXPECT_TRUE(FailsAttempt(LateErrorAction{}));
  EXPECT_TRUE(FailsAttempt(RedirectAction{}));
  EXPECT_TRUE(FailsAttempt(CredentialsAction{}));
  EXPECT_TRUE(FailsAttempt(CorruptAction{}));
  EXPECT_TRUE(FailsAttempt(ContinueAction{.kind = ContinueAction::Kind::kRefuse}));
}

TEST(FailingActionTest, DelayedAndMisreportedResponsesDoNotFailAnAttempt) {
  EXPECT_FALSE(FailsAttempt(StallAction{}));
  EXPECT_FALSE(FailsAttempt(LatencyAction{}));
  EXPECT_FALSE(FailsAttempt(PaceAction{}));
  EXPECT_FALSE(FailsAttempt(HeaderAction{}));
  EXPECT_FALSE(FailsAttempt(PartialFailureAction{}));
  EXPECT_FALSE(FailsAttempt(SkewAction{}));
  EXPECT_FALSE(FailsAttempt(CorruptAction{.fix_checksum = true}));
  EXPECT_FALSE(FailsAttempt(ContinueAction{.kind = ContinueAction::Kind::kLate}));
}

constexpr traffic::Draw kDraw{0.1, 0.2, 0.3, 0.4};

bool Fails(const PartialFailureAction& failure, std::string_view key, std::size_t place = 0,
           std::uint64_t failed_before = 0) {
  return FailsEntry(failure, {.place = place, .key = key, .failed_before = failed_before}, kDraw);
}

std::set<std::string> Failing(double probability, const traffic::Draw& draw) {
  std::set<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (FailsEntry({.probability = probability}, {.key = key}, draw)) keys.insert(key);
  }
  return keys;
}

TEST(PartialFailureTest, EveryEntryFailsByDefault) { EXPECT_TRUE(Fails({}, "any")); }

TEST(PartialFailureTest, MatchesAnyOfThePatterns) {
  const PartialFailureAction failure{.keys = {Pattern("*.tmp"), Pattern::Exactly("a*")}};
  EXPECT_TRUE(Fails(failure, "x.tmp"));
  EXPECT_TRUE(Fails(failure, "a*"));
  EXPECT_FALSE(Fails(failure, "ab"));
}

TEST(PartialFailureTest, PositionsCountFromOne) {
  const PartialFailureAction failure{.entries = NumberSet::Parse("1,3").value()};
  EXPECT_TRUE(Fails(failure, "k", 0));
  EXPECT_FALSE(Fails(failure, "k", 1));
  EXPECT_TRUE(Fails(failure, "k", 2));
}

TEST(PartialFailureTest, LimitsFailuresPerRequest) {
  EXPECT_TRUE(Fails({.most = 2}, "k", 7, 1));
  EXPECT_FALSE(Fails({.most = 2}, "k", 7, 2));
}

TEST(PartialFailureTest, ProbabilityDependsOnlyOnDrawAndKey) {
  const std::set<std::string> some = Failing(0.3, kDraw);
  EXPECT_EQ(some, Failing(0.3, {0.9, 0.2, 0.5, 0.5}));
  EXPECT_NE(some, Failing(0.3, {0.1, 0.25, 0.3, 0.4}));
  EXPECT_GT(some.size(), 200U);
  EXPECT_LT(some.size(), 400U);
  EXPECT_TRUE(Failing(0, kDraw).empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
