#include "client/s3/retry_rules.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

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

TEST(RetryRulesTest, TransientFailuresAreTriedAgain) {
  EXPECT_EQ(DecideRetry(Of(ErrorKind::kUnavailable)), RetryDecision::kTransient);
  EXPECT_EQ(DecideRetry(Of(ErrorKind::kDataLoss)), RetryDecision::kTransient);
  EXPECT_EQ(DecideRetry(Of(ErrorKind::kTimeout)), RetryDecision::kTimeout);
  EXPECT_EQ(DecideRetry(Of(ErrorKind::kThrottled)), RetryDecision::kThrottled);
  EXPECT_EQ(DecideRetry(Of(ErrorKind::kUnavailable, 503)), RetryDecision::kThrottled);
}

TEST(RetryRulesTest, WhatStaysWrongIsNot) {
  for (const ErrorKind kind :
       {ErrorKind::kInvalidArgument, ErrorKind::kNotFound, ErrorKind::kAccessDenied, ErrorKind::kUnauthenticated,
        ErrorKind::kAlreadyExists, ErrorKind::kPreconditionFailed, ErrorKind::kNotModified, ErrorKind::kConflict,
        ErrorKind::kWrongRegion, ErrorKind::kCancelled, ErrorKind::kResourceExhausted, ErrorKind::kUnsupported,
        ErrorKind::kInternal}) {
    EXPECT_EQ(DecideRetry(Of(kind)), RetryDecision::kNo) << ErrorKindName(kind);
  }
}

TEST(RetryRulesTest, BackOffDoublesUpToTheCap) {
  EXPECT_EQ(BackOff(RetryDecision::kTransient, 1, 1.0, {}), milliseconds(50));
  EXPECT_EQ(BackOff(RetryDecision::kTransient, 3, 1.0, {}), milliseconds(200));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 1.0, {}), milliseconds(250));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 9, 1.0, {}), seconds(20));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 64, 1.0, {}), seconds(20));
}

TEST(RetryRulesTest, BackOffIsFullJitter) {
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 0.0, {}), milliseconds(0));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 0.5, {}), milliseconds(125));
}

TEST(RetryRulesTest, TheServersHintReachesFiveSecondsBeyondTheDraw) {
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 0.0, milliseconds(1500)), milliseconds(1500));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 0.0, seconds(60)), seconds(5));
  EXPECT_EQ(BackOff(RetryDecision::kThrottled, 1, 1.0, milliseconds(1)), milliseconds(250));
}

// 2013-05-24T00:00:00Z, as the fake clocks start.
const WallTime kNow{seconds(1369353600)};

TEST(RetryRulesTest, AWrongClockIsSeenFromTheDateHeader) {
  const Error skewed = Of(ErrorKind::kUnauthenticated, 403, "RequestTimeTooSkewed");
  EXPECT_EQ(ClockSkew(skewed, "GET", "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow), seconds(3600));
  EXPECT_EQ(ClockSkew(skewed, "GET", "Thu, 23 May 2013 23:00:00 GMT", kNow, kNow), seconds(-3600));
  EXPECT_EQ(ClockSkew(Of(ErrorKind::kAccessDenied, 403, "403"), "HEAD", "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow),
            seconds(3600));
}

TEST(RetryRulesTest, ASoundClockIsNotBlamed) {
  const Error mismatch = Of(ErrorKind::kUnauthenticated, 403, "SignatureDoesNotMatch");
  EXPECT_EQ(ClockSkew(mismatch, "GET", "Fri, 24 May 2013 00:04:00 GMT", kNow, kNow), std::nullopt);
  EXPECT_EQ(ClockSkew(mismatch, "GET", "", kNow, kNow), std::nullopt);
  EXPECT_EQ(ClockSkew(Of(ErrorKind::kAccessDenied, 403, "AccessDenied"), "GET", "Fri, 24 May 2013 01:00:00 GMT", kNow,
                      kNow),
            std::nullopt);
  // The offset is already applied.
  EXPECT_EQ(ClockSkew(mismatch, "GET", "Fri, 24 May 2013 01:00:00 GMT", kNow, kNow + seconds(3600)), std::nullopt);
}

TEST(RetryRulesTest, TheQuotaRunsOutAndRecovers) {
  RetryQuota quota;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(quota.Take(RetryDecision::kTransient), 5);
  EXPECT_EQ(quota.tokens(), 0);
  EXPECT_EQ(quota.Take(RetryDecision::kTransient), 0);
  quota.OnSuccess(5);
  EXPECT_EQ(quota.Take(RetryDecision::kTimeout), 0);
  EXPECT_EQ(quota.Take(RetryDecision::kThrottled), 5);
  quota.OnSuccess(0);
  EXPECT_EQ(quota.tokens(), 1);
}

TEST(RetryRulesTest, TheQuotaNeverExceedsItsCapacity) {
  RetryQuota quota;
  quota.OnSuccess(0);
  EXPECT_EQ(quota.tokens(), RetryQuota::kCapacity);
  EXPECT_EQ(quota.Take(RetryDecision::kTimeout), 10);
  quota.OnSuccess(0);
  quota.OnSuccess(10);
  EXPECT_EQ(quota.tokens(), RetryQuota::kCapacity);
}

TEST(RetryRulesTest, HostsHaveTheirOwnQuota) {
  RetryQuotas quotas;
  EXPECT_EQ(&quotas.For("a"), &quotas.For("a"));
  int others = 0;
  for (int i = 0; i < 64; ++i) others += &quotas.For("host" + std::to_string(i)) != &quotas.For("a");
  EXPECT_GT(others, 32);
}

}  // namespace
}  // namespace penstock::s3
