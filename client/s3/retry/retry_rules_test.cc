#include "client/s3/retry/retry_rules.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error Of(ErrorKind kind, int status = 0, std::string code = "") {
  Error error = Error::Make(kind, "m");
  error.http_status = status;
  error.code = std::move(code);
  return error;
}

const RetryRules& kTuned = RetryRulesOf(RetryMode::kTuned);
const RetryRules& kLegacy = RetryRulesOf(RetryMode::kLegacy);
const RetryRules& kStandard = RetryRulesOf(RetryMode::kStandard);
const RetryRules& kStandard2026 = RetryRulesOf(RetryMode::kStandard, true);
constexpr auto kNo = RetryDecision::kNo;
constexpr auto kTransient = RetryDecision::kTransient;
constexpr auto kTimeout = RetryDecision::kTimeout;
constexpr auto kThrottled = RetryDecision::kThrottled;

TEST(RetryRulesTest, EveryModeHasARow) {
  EXPECT_EQ(RetryRulesOf(RetryMode::kDefault).name, "tuned");
  EXPECT_EQ(kTuned.max_attempts, 10);
  EXPECT_EQ(kLegacy.max_attempts, 5);
  EXPECT_EQ(kStandard.max_attempts, 3);
  EXPECT_TRUE(kStandard2026.has_2026_rules);
  EXPECT_EQ(RetryRulesOf(RetryMode::kAdaptive, true).mode, RetryMode::kAdaptive);
  EXPECT_EQ(&RetryRulesOf(RetryMode::kLegacy, true), &kLegacy)
      << "the rules of 2026 do not change legacy";
  EXPECT_EQ(&RetryRulesOf(RetryMode::kTuned, true), &kTuned);
}

TEST(RetryRulesTest, TransientErrorsAreRetried) {
  EXPECT_EQ(DecideRetry(kTuned, Of(ErrorKind::kUnavailable)), kTransient);
  EXPECT_EQ(DecideRetry(kTuned, Of(ErrorKind::kDataLoss)), kTransient);
  EXPECT_EQ(DecideRetry(kTuned, Of(ErrorKind::kTimeout)), kTimeout);
  EXPECT_EQ(DecideRetry(kTuned, Of(ErrorKind::kThrottled)), kThrottled);
  EXPECT_EQ(DecideRetry(kTuned, Of(ErrorKind::kUnavailable, 503)), kThrottled);
}

// The decisions of each mode for one error.
struct Decisions {
  const char* what;
  Error error;
  RetryDecision tuned;
  RetryDecision legacy;
  RetryDecision standard;
};

TEST(RetryRulesTest, ModesDifferAsAwsDocuments) {
  using enum ErrorKind;
  const Decisions rows[] = {
      {"reset", Of(kUnavailable), kTransient, kTransient, kTransient},
      {"timeout", Of(ErrorKind::kTimeout), RetryDecision::kTimeout, RetryDecision::kTimeout,
       RetryDecision::kTimeout},
      {"body cut short", Of(kUnavailable, 200), kTransient, kTransient, kTransient},
      {"wrong checksum", Of(kDataLoss, 200), kTransient, kTransient, kTransient},
      {"500", Of(kUnavailable, 500, "InternalError"), kTransient, kTransient, kTransient},
      {"error inside a 200", Of(kUnavailable, 200, "InternalError"), kTransient, kTransient,
       kTransient},
      {"SlowDown inside a 200", Of(ErrorKind::kThrottled, 200, "SlowDown"),
       RetryDecision::kThrottled, RetryDecision::kThrottled, RetryDecision::kThrottled},
      {"502", Of(kUnavailable, 502, "502"), kTransient, kTransient, kTransient},
      {"504", Of(kUnavailable, 504, "504"), kTransient, kTransient, kTransient},
      {"509", Of(kUnavailable, 509, "509"), kTransient, kTransient, kNo},
      {"507", Of(kResourceExhausted, 507, "507"), kNo, kNo, kNo},
      {"SlowDown", Of(ErrorKind::kThrottled, 503, "SlowDown"), RetryDecision::kThrottled,
       RetryDecision::kThrottled, RetryDecision::kThrottled},
      {"a HEAD's 503", Of(ErrorKind::kThrottled, 503, "503"), RetryDecision::kThrottled,
       RetryDecision::kThrottled, kTransient},
      {"ServiceUnavailable", Of(kUnavailable, 503, "ServiceUnavailable"), RetryDecision::kThrottled,
       kTransient, kTransient},
      {"429 without a code", Of(ErrorKind::kThrottled, 429, "429"), RetryDecision::kThrottled,
       RetryDecision::kThrottled, kNo},
      {"ThrottlingException", Of(ErrorKind::kThrottled, 400, "ThrottlingException"),
       RetryDecision::kThrottled, RetryDecision::kThrottled, RetryDecision::kThrottled},
      {"PriorRequestNotComplete", Of(kUnavailable, 400, "PriorRequestNotComplete"), kTransient, kNo,
       RetryDecision::kThrottled},
      {"RequestTimeout", Of(kUnavailable, 400, "RequestTimeout"), kTransient, kTransient,
       kTransient},
      {"RequestTimeoutException", Of(kUnavailable, 400, "RequestTimeoutException"), kTransient, kNo,
       kTransient},
      {"BadDigest", Of(kDataLoss, 400, "BadDigest"), kTransient, kTransient, kNo},
      {"NoSuchKey", Of(kNotFound, 404, "NoSuchKey"), kNo, kNo, kNo},
      {"OperationAborted", Of(kConflict, 409, "OperationAborted"), kNo, kNo, kNo},
      {"PreconditionFailed", Of(kPreconditionFailed, 412, "PreconditionFailed"), kNo, kNo, kNo},
  };
  for (const Decisions& row : rows) {
    EXPECT_EQ(DecideRetry(kTuned, row.error), row.tuned) << row.what;
    EXPECT_EQ(DecideRetry(kLegacy, row.error), row.legacy) << row.what;
    EXPECT_EQ(DecideRetry(kStandard, row.error), row.standard) << row.what;
    EXPECT_EQ(DecideRetry(RetryRulesOf(RetryMode::kAdaptive), row.error), row.standard) << row.what;
    EXPECT_EQ(DecideRetry(kStandard2026, row.error), row.standard) << row.what;
  }
}

TEST(RetryRulesTest, PermanentErrorsAreNotRetried) {
  for (const ErrorKind kind :
       {ErrorKind::kInvalidArgument, ErrorKind::kNotFound, ErrorKind::kAccessDenied,
        ErrorKind::kUnauthenticated, ErrorKind::kAlreadyExists, ErrorKind::kPreconditionFailed,
        ErrorKind::kNotModified, ErrorKind::kConflict, ErrorKind::kWrongRegion,
        ErrorKind::kCancelled, ErrorKind::kResourceExhausted, ErrorKind::kUnsupported,
        ErrorKind::kInternal}) {
    for (const RetryRules& rules : kRetryRules)
      EXPECT_EQ(DecideRetry(rules, Of(kind)), kNo) << ErrorKindName(kind);
  }
}

TEST(RetryRulesTest, BackoffDoublesUpToTheCap) {
  EXPECT_EQ(BackOff(kTuned, kTransient, 1, 1.0, {}), milliseconds(50));
  EXPECT_EQ(BackOff(kTuned, kTransient, 3, 1.0, {}), milliseconds(200));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 1.0, {}), milliseconds(250));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 9, 1.0, {}), seconds(20));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 64, 1.0, {}), seconds(20));
}

TEST(RetryRulesTest, BackoffOfTheAwsModes) {
  for (const RetryDecision decision : {kTransient, kTimeout, kThrottled}) {
    EXPECT_EQ(BackOff(kStandard, decision, 1, 1.0, {}), seconds(1));
    EXPECT_EQ(BackOff(kStandard, decision, 3, 0.5, {}), seconds(2));
    EXPECT_EQ(BackOff(kStandard, decision, 6, 1.0, {}), seconds(20));
    EXPECT_EQ(BackOff(kLegacy, decision, 6, 1.0, {}), seconds(32)) << "uncapped";
  }
  EXPECT_EQ(BackOff(kStandard2026, kTransient, 2, 1.0, {}), milliseconds(100));
  EXPECT_EQ(BackOff(kStandard2026, kTimeout, 2, 1.0, {}), milliseconds(100));
  EXPECT_EQ(BackOff(kStandard2026, kThrottled, 2, 1.0, {}), seconds(2));
  EXPECT_EQ(BackOff(kStandard2026, kThrottled, 30, 1.0, {}), seconds(20));
}

TEST(RetryRulesTest, BackoffHasFullJitter) {
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 0.0, {}), milliseconds(0));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 0.5, {}), milliseconds(125));
}

TEST(RetryRulesTest, TheServersHintExtendsTheDelayByUpToFiveSeconds) {
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 0.0, milliseconds(1500)), milliseconds(1500));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 0.0, seconds(60)), seconds(5));
  EXPECT_EQ(BackOff(kTuned, kThrottled, 1, 1.0, milliseconds(1)), milliseconds(250));
  EXPECT_EQ(BackOff(kStandard2026, kThrottled, 1, 0.5, seconds(60)), milliseconds(5500));
  EXPECT_EQ(BackOff(kStandard, kThrottled, 1, 0.5, seconds(60)), milliseconds(500))
      << "standard ignores hints";
  EXPECT_EQ(BackOff(kLegacy, kThrottled, 1, 0.5, seconds(60)), milliseconds(500));
}

TEST(RetryRulesTest, RetriesCostTheTokensOfTheMode) {
  EXPECT_EQ(kStandard.Cost(kTransient), 5);
  EXPECT_EQ(kStandard.Cost(kTimeout), 10);
  EXPECT_EQ(kStandard.Cost(kThrottled), 5);
  EXPECT_EQ(kStandard2026.Cost(kTransient), 14);
  EXPECT_EQ(kStandard2026.Cost(kTimeout), 14);
  EXPECT_EQ(kStandard2026.Cost(kThrottled), 5);
  EXPECT_EQ(kTuned.Cost(kThrottled), 0);
  for (const RetryDecision decision : {kNo, kTransient, kTimeout, kThrottled})
    EXPECT_EQ(kLegacy.Cost(decision), 0);
}

// 2013-05-24T00:00:00Z, the start of the fake clocks.
const WallTime kNow{seconds(1369353600)};

TEST(RetryRulesTest, DetectsAWrongClockByTheDateHeader) {
  const Error skewed = Of(ErrorKind::kUnauthenticated, 403, "RequestTimeTooSkewed");
  EXPECT_EQ(ClockSkew(skewed, "GET", "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow), seconds(3600));
  EXPECT_EQ(ClockSkew(skewed, "GET", "Thu, 23 May 2013 23:00:00 GMT", kNow, kNow), seconds(-3600));
  EXPECT_EQ(ClockSkew(Of(ErrorKind::kAccessDenied, 403, "403"), "HEAD",
                      "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow),
            seconds(3600));
}

TEST(RetryRulesTest, ACorrectClockIsNotAdjusted) {
  const Error mismatch = Of(ErrorKind::kUnauthenticated, 403, "SignatureDoesNotMatch");
  EXPECT_EQ(ClockSkew(mismatch, "GET", "Fri, 24 May 2013 00:04:00 GMT", kNow, kNow), std::nullopt);
  EXPECT_EQ(ClockSkew(mismatch, "GET", "", kNow, kNow), std::nullopt);
  EXPECT_EQ(ClockSkew(Of(ErrorKind::kAccessDenied, 403, "AccessDenied"), "GET",
                      "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow),
            std::nullopt);
  // The offset is already applied.
  EXPECT_EQ(ClockSkew(mismatch, "GET", "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow + seconds(3600)),
            std::nullopt);
}

TEST(RetryRulesTest, TheQuotaRunsOutAndRecovers) {
  RetryQuota quota;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(quota.Take(5));
  EXPECT_EQ(quota.tokens(), 0);
  EXPECT_FALSE(quota.Take(5));
  EXPECT_TRUE(quota.Take(0));
  quota.OnSuccess(5);
  EXPECT_FALSE(quota.Take(10));
  EXPECT_TRUE(quota.Take(5));
  quota.OnSuccess(0);
  EXPECT_EQ(quota.tokens(), 1);
}

TEST(RetryRulesTest, TheQuotaNeverExceedsItsCapacity) {
  RetryQuota quota;
  quota.OnSuccess(0);
  EXPECT_EQ(quota.tokens(), RetryQuota::kCapacity);
  EXPECT_TRUE(quota.Take(10));
  quota.OnSuccess(0);
  quota.OnSuccess(10);
  EXPECT_EQ(quota.tokens(), RetryQuota::kCapacity);
}

TEST(RetryRulesTest, HostsHaveTheirOwnQuota) {
  RetryQuotas quotas;
  EXPECT_EQ(&quotas.For("a"), &quotas.For("a"));
  int others = 0;
  for (int i = 0; i < 64; ++i)
    others += &quotas.For("host" + std::to_string(i)) != &quotas.For("a");
  EXPECT_GT(others, 32);
}

}  // namespace
}  // namespace penstock::s3
