#include "client/transfer/connection_plan.h"

#include <gtest/gtest.h>

namespace penstock::transfer {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t kMiB = 1ull << 20;

TEST(ConnectionPlan, OneFastConnectionIsEnough) {
  EXPECT_EQ(WantedConnections(
                {.bytes = 4 * kMiB, .elapsed = milliseconds(1), .unclaimed_bytes = 1024 * kMiB}),
            1);
}

TEST(ConnectionPlan, NinetyMegabytesPerSecondNeedMoreConnections) {
  EXPECT_EQ(WantedConnections(
                {.bytes = kMiB, .elapsed = milliseconds(11), .unclaimed_bytes = 1024 * kMiB}),
            16);
  EXPECT_EQ(WantedConnections(
                {.bytes = 5 * kMiB, .elapsed = milliseconds(10), .unclaimed_bytes = 1024 * kMiB}),
            3);
}

TEST(ConnectionPlan, NoMoreConnectionsThanParts) {
  EXPECT_EQ(
      WantedConnections({.bytes = kMiB, .elapsed = milliseconds(11), .unclaimed_bytes = 17 * kMiB}),
      3);
  EXPECT_EQ(
      WantedConnections({.bytes = kMiB, .elapsed = milliseconds(11), .unclaimed_bytes = 7 * kMiB}),
      1);
}

TEST(ConnectionPlan, DoesNotSplitARestShorterThanTheLatency) {
  EXPECT_EQ(WantedConnections(
                {.bytes = 8 * kMiB, .elapsed = milliseconds(10), .unclaimed_bytes = 15 * kMiB}),
            1);
}

TEST(ConnectionPlan, SmallSamplesGiveOneConnection) {
  EXPECT_EQ(WantedConnections(
                {.bytes = 64 << 10, .elapsed = milliseconds(5), .unclaimed_bytes = 1024 * kMiB}),
            1);
  EXPECT_EQ(
      WantedConnections({.bytes = 0, .elapsed = microseconds(0), .unclaimed_bytes = 1024 * kMiB}),
      1);
  EXPECT_EQ(
      WantedConnections({.bytes = 0, .elapsed = milliseconds(50), .unclaimed_bytes = 1024 * kMiB}),
      16);
}

TEST(ConnectionPlan, EachIdleThreadGetsAConnectionIfTheReceivingThreadIsBusy) {
  RateSample sample{.bytes = 40 * kMiB,
                    .elapsed = milliseconds(10),
                    .unclaimed_bytes = 1024 * kMiB,
                    .thread_cpu = milliseconds(8),
                    .in_flight = 1,
                    .idle_threads = 7};
  EXPECT_EQ(WantedConnections(sample), 8);
  sample.thread_cpu = microseconds(7'900);  // 79 % of a core
  EXPECT_EQ(WantedConnections(sample), 1);
  sample.thread_cpu = milliseconds(10);
  sample.in_flight = 8;
  sample.idle_threads = 0;
  EXPECT_EQ(WantedConnections(sample), 8);  // Those in flight stay, and no further one starts.
  sample.idle_threads = 60;
  EXPECT_EQ(WantedConnections(sample), kMaxConnections);
}

TEST(ConnectionPlan, BusyThreadsChangeNothingWithoutIdleOnes) {
  const RateSample sample{.bytes = 40 * kMiB,
                          .elapsed = milliseconds(10),
                          .unclaimed_bytes = 1024 * kMiB,
                          .thread_cpu = milliseconds(10)};
  EXPECT_EQ(WantedConnections(sample), 1);
}

TEST(ConnectionPlan, IdleThreadsGetNoMoreConnectionsThanParts) {
  EXPECT_EQ(WantedConnections({.bytes = 4 * kMiB,
                               .elapsed = milliseconds(10),
                               .unclaimed_bytes = 17 * kMiB,
                               .thread_cpu = milliseconds(10),
                               .idle_threads = 7}),
            3);
}

TEST(ConnectionPlan, PartSizesAreAFairShareBetween8And64MiB) {
  EXPECT_EQ(PlannedPartSize(1024 * kMiB, 16), 32 * kMiB);
  EXPECT_EQ(PlannedPartSize(1024 * kMiB, 2), 64 * kMiB);
  EXPECT_EQ(PlannedPartSize(100 * kMiB, 16), 8 * kMiB);
  EXPECT_EQ(PlannedPartSize(UINT64_MAX, 1), 64 * kMiB);
}

}  // namespace
}  // namespace penstock::transfer
