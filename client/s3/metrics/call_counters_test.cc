#include "client/s3/metrics/call_counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

AttemptEnd End(bool throttled = false) {
  return {.throttled = throttled, .bytes_sent = 3, .bytes_received = 5};
}

TEST(CallCountersTest, CountsAttemptsByOperation) {
  CallCounters counters;
  counters.OnAttempt(End());
  counters.OnAttempt(End(true));
  counters.OnRetry(RetryReason::kThrottled);
  counters.OnFailure(ErrorKind::kThrottled);
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.requests, (std::map<std::string, std::uint64_t>{{"GetObject", 2}}));
  EXPECT_EQ(stats.operations.at("GetObject").requests, 2u);
  EXPECT_EQ(stats.throttled, 1u);
  EXPECT_EQ(stats.retries, 1u);
  EXPECT_EQ(stats.failures, 1u);
  EXPECT_EQ(stats.bytes_sent, 6u);
  EXPECT_EQ(stats.bytes_received, 10u);
}

TEST(CallCountersTest, CountsRetriesByReasonAndFailuresByKind) {
  using Counts = std::map<std::string, std::uint64_t>;
  CallCounters counters;
  EXPECT_EQ(counters.Snapshot().retries_by_reason, Counts());
  counters.OnRetry(RetryReason::kConnection);
  counters.OnRetry(RetryReason::kConnection);
  counters.OnRetry(RetryReason::kRetryPolicy);
  counters.OnFailure(ErrorKind::kInvalidArgument);
  counters.OnFailure(ErrorKind::kInternal);
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.retries, 3u);
  EXPECT_EQ(stats.retries_by_reason, (Counts{{"connection", 2}, {"retry_policy", 1}}));
  EXPECT_EQ(stats.failures, 2u);
  EXPECT_EQ(stats.failures_by_kind, (Counts{{"internal", 1}, {"invalid_argument", 1}}));
}

TEST(CallCountersTest, TimesAreByOperationAndOnlyResponsesHaveAFirstByte) {
  CallCounters counters;
  counters.OnAttempt({.operation = Operation::kGetObject,
                      .first_byte = std::chrono::milliseconds(2),
                      .duration = std::chrono::milliseconds(5)});
  counters.OnAttempt(
      {.operation = Operation::kGetObject, .duration = std::chrono::milliseconds(7)});
  counters.OnAttempt(
      {.operation = Operation::kPutObject, .duration = std::chrono::milliseconds(1)});
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.operations.at("GetObject").first_byte.count, 1u);
  EXPECT_EQ(stats.operations.at("GetObject").duration.count, 2u);
  EXPECT_EQ(stats.operations.at("GetObject").duration.sum, std::chrono::milliseconds(12));
  EXPECT_EQ(stats.operations.at("PutObject").duration.count, 1u);
}

TEST(CallCountersTest, CountsRequestsByConnection) {
  CallCounters counters;
  AttemptEnd end = End();
  end.connections.Add({.reused = false});
  counters.OnAttempt(end);
  end.connections = {};
  end.connections.Add({.reused = true});  // A dead connection.
  end.connections.Add({.reused = false});
  counters.OnAttempt(end);
  end.connections = {};
  end.connections.Add({.reused = true});
  counters.OnAttempt(end);
  counters.OnAttempt(End());  // No connection.
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.connections.opened, 2u);
  EXPECT_EQ(stats.connections.reused, 2u);
}

TEST(CallCountersTest, CountsExactlyWithSeveralThreads) {
  CallCounters counters;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&counters] {
        for (int i = 0; i < 1000; ++i) counters.OnAttempt(End());
      });
    }
  }
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.requests.at("GetObject"), 4000u);
  EXPECT_EQ(stats.operations.at("GetObject").duration.count, 4000u);
}

TEST(CallCountersTest, CallsOnlyTheNewestObserver) {
  CallCounters counters;
  int first = 0;
  int second = 0;
  counters.OnAttempt(End());
  counters.SetObserver([&first](const RequestEvent&) { ++first; });
  counters.OnAttempt(End());
  counters.SetObserver([&second](const RequestEvent&) { ++second; });
  counters.OnAttempt(End());
  counters.SetObserver(nullptr);
  counters.OnAttempt(End());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace penstock::s3
