#include "emulator/server/process/counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::emulator::server {
namespace {

TEST(CountersTest, CountsByOperationAndStatus) {
  Counters counters;
  counters.CountRequest("GetObject", 200);
  counters.CountRequest("GetObject", 404);
  counters.CountRequest("", 400);
  counters.CountBytes(3, 5);
  const EmulatorStats stats = counters.Snapshot();
  EXPECT_EQ(stats.requests,
            (std::map<std::string, std::uint64_t>{{"GetObject", 2}, {"Unknown", 1}}));
  EXPECT_EQ(stats.statuses, (std::map<int, std::uint64_t>{{200, 1}, {400, 1}, {404, 1}}));
  EXPECT_EQ(stats.bytes_in, 3u);
  EXPECT_EQ(stats.bytes_out, 5u);
}

TEST(CountersTest, SnapshotIncludesEveryThread) {
  Counters counters;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 40; ++i) {  // more threads than shards
      threads.emplace_back([&counters] {
        for (int j = 0; j < 100; ++j) counters.CountRequest("PutObject", 200);
        counters.CountBytes(1, 2);
      });
    }
  }
  const EmulatorStats stats = counters.Snapshot();
  EXPECT_EQ(stats.requests.at("PutObject"), 4'000u);
  EXPECT_EQ(stats.statuses.at(200), 4'000u);
  EXPECT_EQ(stats.bytes_in, 40u);
  EXPECT_EQ(stats.bytes_out, 80u);
}

TEST(CountersTest, ResetClearsTheCounters) {
  Counters counters;
  counters.CountRequest("GetObject", 200);
  counters.CountBytes(3, 5);
  counters.Reset();
  const EmulatorStats stats = counters.Snapshot();
  EXPECT_TRUE(stats.requests.empty());
  EXPECT_TRUE(stats.statuses.empty());
  EXPECT_EQ(stats.bytes_in + stats.bytes_out, 0u);
}

TEST(CountersTest, CountsDurationsByClassAndInclusiveBound) {
  Counters counters;
  counters.CountDuration(s3::Access::kList, std::chrono::microseconds(100));
  counters.CountDuration(s3::Access::kList, std::chrono::nanoseconds(100'001));
  counters.CountDuration(s3::Access::kWrite, std::chrono::seconds(11));
  EmulatorStats stats = counters.Snapshot();
  const RequestDurations& lists = stats.durations.at("list");
  EXPECT_EQ(lists.counts[0], 1u);
  EXPECT_EQ(lists.counts[1], 1u);
  EXPECT_EQ(lists.sum, std::chrono::nanoseconds(200'001));
  EXPECT_EQ(stats.durations.at("write").counts.back(), 1u);
  EXPECT_EQ(stats.durations.at("read").counts, RequestDurations().counts);
  counters.Reset();
  stats = counters.Snapshot();
  EXPECT_EQ(stats.durations.at("list").counts, RequestDurations().counts);
  EXPECT_EQ(stats.durations.at("write").sum.count(), 0);
}

}  // namespace
}  // namespace penstock::emulator::server
