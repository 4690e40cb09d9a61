#include "emulator/faults/documents/action_members.h"

#include <string_view>
#include <vector>

#include "emulator/faults/documents/action_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

TimedAction Read(std::string_view json) {
  return ReadAction(ParseJson(json).value(), "do").value();
}
// Empty: none.
std::string Problem(std::string_view json) {
  const auto action = ReadAction(ParseJson(json).value(), "do");
  return action.ok() ? std::string() : action.error().message;
}
Result<PartialFailureAction> ReadFailure(std::string_view json) {
  PENSTOCK_ASSIGN(Action action, ReadPartialFailure(ParseJson(json).value(), "do.partial_failure"));
  return std::get<PartialFailureAction>(std::move(action));
}
LatencyAction ReadDelay(std::string_view json) {
  return std::get<LatencyAction>(ReadLatency(ParseJson(json).value(), "latency").value());
}
std::string DelayProblem(std::string_view json) {
  return ReadLatency(ParseJson(json).value(), "latency").error().message;
}

TEST(AcceptActionTest, ConnectionActionsHappenAtAccept) {
  EXPECT_TRUE(std::holds_alternative<TlsAbortAction>(Read(R"({"tls_abort": {}})").action));
  EXPECT_EQ(
      std::get<TlsAbortAction>(Read(R"({"tls_abort": {"mode": "protocol-version"}})").action).kind,
      TlsAbortAction::Kind::kProtocolVersion);
  EXPECT_EQ(std::get<TlsCertificateAction>(Read(R"({"tls_certificate": {}})").action).kind,
            TlsCertificateAction::Kind::kExpired);
  EXPECT_EQ(std::get<TlsCertificateAction>(
                Read(R"({"tls_certificate": {"mode": "unknown-authority"}})").action)
                .kind,
            TlsCertificateAction::Kind::kUnknownAuthority);
  EXPECT_EQ(std::get<GoAwayAction>(Read(R"({"goaway": {"requests": 2}})").action).requests, 2U);
  EXPECT_EQ(
      std::get<ConnectionLimitAction>(Read(R"({"connection_limit": {"most": 0}})").action).most,
      0U);
  for (const char* json : {R"({"tls_abort": {}})", R"({"tls_certificate": {}})",
                           R"({"goaway": {"requests": 2}})", R"({"connection_limit": {"most": 0}})",
                           R"({"reset": {}, "at": "accept"})", R"({"fin": {}, "at": "accept"})"}) {
    EXPECT_EQ(Read(json).at.stage, Stage::kAccept) << json;
  }
}

TEST(AcceptActionTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(Problem(R"({"goaway": {}})"),
            "do.goaway.requests: must be at least 1: the number of requests per connection");
  EXPECT_EQ(Problem(R"({"tls_certificate": {"mode": "old"}})"),
            "do.tls_certificate.mode: must be one of expired, not-yet-valid, wrong-host, "
            "self-signed, unknown-authority, not 'old'");
  EXPECT_EQ(Problem(R"({"connection_limit": {}})"),
            "do.connection_limit.most: is missing: set the number of concurrent connections");
  EXPECT_EQ(Problem(R"({"goaway": {"requests": 1}, "at": "headers"})"),
            "do.at: 'goaway' cannot happen at 'headers'");
  EXPECT_EQ(Problem(R"({"stall": {"ms": 1}, "at": "accept"})"),
            "do.at: 'stall' cannot happen at 'accept'");
}

TEST(CommitActionTest, ActionsHappenAtTheCommit) {
  const auto duplicate = Read(R"({"duplicate_apply": {"answer": "first"}})");
  EXPECT_EQ(std::get<DuplicateAction>(duplicate.action).response,
            DuplicateAction::Response::kFirst);
  EXPECT_EQ(duplicate.at.stage, Stage::kBeforeCommit);
  EXPECT_EQ(std::get<DuplicateAction>(Read(R"({"duplicate_apply": {}})").action).response,
            DuplicateAction::Response::kSecond);
  EXPECT_EQ(std::get<CommitPartialAction>(
                Read(R"({"commit_partial": {"bytes": 0, "unlike_s3": true}})").action)
                .bytes,
            0U);
  EXPECT_EQ(std::get<DelayVisibilityAction>(
                Read(R"({"delay_visibility": {"ms": 5, "unlike_s3": true}})").action)
                .time.count(),
            5);
  EXPECT_EQ(Problem(R"({"duplicate_apply": {}, "at": "headers"})"),
            "do.at: 'duplicate_apply' cannot happen at 'headers'");
}

TEST(CommitActionTest, UnlikeS3FlagIsRequired) {
  for (const std::string given : {"", R"(, "unlike_s3": false)"}) {
    EXPECT_EQ(Problem(R"({"commit_partial": {"bytes": 3)" + given + "}}"),
              "do.commit_partial.unlike_s3: must be true, because no correct S3 server does this; "
              "add \"unlike_s3\": true");
    EXPECT_NE(
        Problem(R"({"delay_visibility": {"ms": 3)" + given + "}}").find("unlike_s3: must be true"),
        std::string::npos);
  }
}

TEST(CommitActionTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(Problem(R"({"duplicate_apply": {"answer": "third"}})"),
            "do.duplicate_apply.answer: must be one of second, first, not 'third'");
  EXPECT_EQ(Problem(R"({"commit_partial": {"unlike_s3": true}})"),
            "do.commit_partial.bytes: is missing: set the number of bytes to keep");
  EXPECT_EQ(Problem(R"({"delay_visibility": {"unlike_s3": true}})"),
            "do.delay_visibility.ms: is missing: set the time in milliseconds");
  EXPECT_EQ(Problem(R"({"delay_visibility": {"ms": 0, "unlike_s3": true}})"),
            "do.delay_visibility.ms: must be 1 to 3600000 milliseconds, not 0");
}

TEST(PartialFailureMembersTest, ReadsMembersWithDefaults) {
  const auto plain = ReadFailure("{}");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->code, "InternalError");
  EXPECT_TRUE(plain->keys.empty());
  EXPECT_EQ(plain->probability, 1);
  const auto all = ReadFailure(
      R"({"code": "SlowDown", "message": "m", "key": ["a/*", {"exactly": "b"}], "entries": "every 2", "most": 3, "probability": 0.5})");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->code, "SlowDown");
  EXPECT_EQ(all->message, "m");
  ASSERT_EQ(all->keys.size(), 2U);
  EXPECT_TRUE(all->keys[0].Matches("a/b"));
  EXPECT_FALSE(all->keys[1].Matches("bb"));
  EXPECT_TRUE(all->entries->Has(4));
  EXPECT_EQ(all->most, 3U);
  EXPECT_EQ(all->probability, 0.5);
  EXPECT_TRUE(ReadFailure(R"({"key": {"prefix": "p"}})")->keys.at(0).Matches("pq"));
}

TEST(PartialFailureMembersTest, ErrorsNameTheField) {
  const auto problem = [](std::string_view text) { return ReadFailure(text).error().message; };
  EXPECT_EQ(problem(R"({"code": ""})"),
            "do.partial_failure.code: is empty; set an S3 error code such as SlowDown");
  EXPECT_EQ(problem(R"({"key": []})"),
            "do.partial_failure.key: is empty: remove it to match every key");
  EXPECT_TRUE(problem(R"({"key": ["a", 1]})").starts_with("do.partial_failure.key[1]: "))
      << problem(R"({"key": ["a", 1]})");
  EXPECT_EQ(problem(R"({"entries": 0})"),
            "do.partial_failure.entries: counts from 1: 0 never matches");
  EXPECT_EQ(
      problem(R"({"most": 0})"),
      "do.partial_failure.most: must be at least 1: the number of failing entries per request");
  EXPECT_EQ(problem(R"({"probability": 0})"),
            "do.partial_failure.probability: must be more than 0 and at most 1");
  EXPECT_FALSE(ReadFailure(R"({"keys": "a"})").ok());
}

TEST(PartialFailureMembersTest, IsAllowedOnlyBeforeTheCommit) {
  EXPECT_EQ(Read(R"({"partial_failure": {}})").at.stage, Stage::kBeforeCommit);
  EXPECT_NE(Problem(R"({"partial_failure": {}, "at": "after_commit"})"), "");
}

TEST(LatencyMembersTest, ReadsATimeARangeOrADistribution) {
  EXPECT_EQ(ReadDelay(R"({"ms": 30})").floor_ms, 30);
  EXPECT_EQ(ReadDelay(R"({"min_ms": 10, "max_ms": 50})").max_ms, 50);
  EXPECT_EQ(ReadDelay(R"({"min_ms": 10, "max_ms": 10})").floor_ms, 10);
  const LatencyAction spread = ReadDelay(R"({"floor_ms": 12, "median_ms": 18, "sigma": 0.5})");
  EXPECT_EQ(spread.floor_ms, 12);
  EXPECT_EQ(spread.median_ms, 18);
  EXPECT_EQ(spread.sigma, 0.5);
}

TEST(LatencyMembersTest, ErrorsNameValidValues) {
  EXPECT_EQ(DelayProblem("{}"),
            "latency: has no delay: set ms, min_ms and max_ms, median_ms and sigma, profile, or "
            "trace_ms");
  EXPECT_EQ(DelayProblem(R"({"ms": 3600001})"), "latency.ms: must be 0 to 3600000, not 3600001");
  EXPECT_EQ(DelayProblem(R"({"min_ms": 50})"),
            "latency.max_ms: is missing: a range needs min_ms and max_ms; for a fixed time use ms");
  EXPECT_EQ(DelayProblem(R"({"max_ms": 50})").substr(0, 26), "latency.min_ms: is missing");
  EXPECT_EQ(DelayProblem(R"({"ms": 5, "sigma": 1})").substr(0, 29),
            "latency.median_ms: is missing");
  EXPECT_EQ(DelayProblem(R"({"min_ms": 50, "max_ms": 10})"),
            "latency.max_ms: must not be less than min_ms");
  EXPECT_EQ(DelayProblem(R"({"median_ms": 5, "sigma": 4})"),
            "latency.sigma: must be 0 to 3, not 4");
}

TEST(LatencyMembersTest, ProfileExcludesOtherMembers) {
  EXPECT_EQ(ReadDelay(R"({"profile": "s3-express"})").profile, "s3-express");
  EXPECT_NE(DelayProblem(R"({"profile": "fast"})").find("s3-standard"), std::string::npos);
  EXPECT_EQ(DelayProblem(R"({"profile": "s3-express", "ms": 3})"),
            "latency: `profile` excludes all other members: remove them");
}

TEST(LatencyMembersTest, ReadsATrace) {
  EXPECT_EQ(ReadDelay(R"({"trace_ms": [12, 0.5]})").trace_ms, (std::vector<double>{12, 0.5}));
  EXPECT_EQ(DelayProblem(R"({"trace_ms": []})"),
            "latency.trace_ms: must have 1 to 10000 values, not 0");
  EXPECT_EQ(DelayProblem(R"({"trace_ms": [1, -2]})"),
            "latency.trace_ms[1]: must be 0 to 3600000 milliseconds, not -2");
  EXPECT_EQ(DelayProblem(R"({"trace_ms": [1], "ms": 3})"),
            "latency: `trace_ms` excludes all other members: remove them");
}

}  // namespace
}  // namespace penstock::emulator::faults
