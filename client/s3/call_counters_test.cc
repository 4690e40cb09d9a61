#include "client/s3/call_counters.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

RequestEvent Event() { return {.bytes_sent = 3, .bytes_received = 5}; }

TEST(CallCountersTest, CountsAttemptsByOperation) {
  CallCounters counters;
  counters.OnAttempt(Operation::kGetObject, Event(), false);
  counters.OnAttempt(Operation::kGetObject, Event(), true);
  counters.OnRetry();
  counters.OnFailure();
  const ClientStats stats = counters.Snapshot();
  EXPECT_EQ(stats.requests, (std::map<std::string, std::uint64_t>{{"GetObject", 2}}));
  EXPECT_EQ(stats.throttled, 1u);
  EXPECT_EQ(stats.retries, 1u);
  EXPECT_EQ(stats.failures, 1u);
  EXPECT_EQ(stats.bytes_sent, 6u);
  EXPECT_EQ(stats.bytes_received, 10u);
}

TEST(CallCountersTest, TellsTheNewestObserverOnly) {
  CallCounters counters;
  int first = 0;
  int second = 0;
  counters.OnAttempt(Operation::kGetObject, Event(), false);
  counters.SetObserver([&first](const RequestEvent&) { ++first; });
  counters.OnAttempt(Operation::kGetObject, Event(), false);
  counters.SetObserver([&second](const RequestEvent&) { ++second; });
  counters.OnAttempt(Operation::kGetObject, Event(), false);
  counters.SetObserver(nullptr);
  counters.OnAttempt(Operation::kGetObject, Event(), false);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace penstock::s3
