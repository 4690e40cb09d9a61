#include "emulator/traffic/limits/partition_model.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 10 reads and 5 writes per second, a burst of one. Splits after 3 s, merges after 10 s.
Limits Small() {
  return {.reads_per_second = 10,
          .writes_per_second = 5,
          .burst = milliseconds(200),
          .split_after = seconds(3),
          .merge_after = seconds(10)};
}

// Sends `per_second` reads per second, evenly, for the keys in rotation. Returns how many were
// admitted.
int Load(PartitionModel& model, const std::vector<std::string>& keys, int per_second, Instant begin,
         Instant end) {
  int admitted = 0;
  std::size_t turn = 0;
  for (Instant now = begin; now < end; now += Instant(seconds(1)) / per_second) {
    admitted += model.Admit(keys[turn++ % keys.size()], Traffic::kRead, now).admitted ? 1 : 0;
  }
  return admitted;
}

TEST(PartitionModelTest, ReadsAndWritesHaveSeparateBudgets) {
  PartitionModel model(Small());
  EXPECT_TRUE(model.Admit("a", Traffic::kWrite, seconds(0)).admitted);
  EXPECT_FALSE(model.Admit("a", Traffic::kWrite, seconds(0)).admitted);
  EXPECT_TRUE(model.Admit("a", Traffic::kRead, seconds(0)).admitted);
  EXPECT_TRUE(model.Admit("a", Traffic::kRead, seconds(0)).admitted);
  EXPECT_FALSE(model.Admit("a", Traffic::kRead, seconds(0)).admitted);
}

TEST(PartitionModelTest, AllKeysOfANewBucketShareOneBudget) {
  PartitionModel model(Small());
  // The burst, and 10 per second.
  EXPECT_EQ(Load(model, {"a/1", "b/1", "c/1", "d/1"}, 40, seconds(0), seconds(2)), 2 + 19);
  EXPECT_EQ(model.partitions(), 1U);
}

TEST(PartitionModelTest, SustainedOverloadSplitsBetweenTheLoadedKeys) {
  PartitionModel model(Small());
  Load(model, {"ckpt/0/x", "ckpt/0/y", "ckpt/1/x", "ckpt/1/y"}, 40, seconds(0), seconds(4));
  ASSERT_EQ(model.events().size(), 1U);
  const PartitionEvent& event = model.events().front();
  EXPECT_EQ(event.kind, PartitionEvent::Kind::kSplit);
  EXPECT_EQ(event.at, seconds(3));
  EXPECT_EQ(event.boundary, "ckpt/1");  // The shortest prefix that divides them in halves.
  const int before = Load(model, {"ckpt/0/x", "ckpt/1/x"}, 40, seconds(4), seconds(5));
  EXPECT_GE(before, 20) << "two partitions have twice the rate";
}

TEST(PartitionModelTest, PrefersAShorterPrefixNearTheMiddle) {
  PartitionModel model(Small());
  // The middle of the ten keys is between "a/4" and "a/5"; a split at "b" leaves three of them on
  // the right.
  Load(model, {"a/0", "a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "b/0", "b/1", "b/2"}, 40,
       seconds(0), seconds(4));
  ASSERT_EQ(model.events().size(), 1U);
  EXPECT_EQ(model.events().front().boundary, "b");
}

TEST(PartitionModelTest, SplitsNearTheEdgeIfThereIsNoOtherBoundary) {
  PartitionModel model(Small());
  Load(model, {"a", "a", "a", "a", "a", "a", "a", "a", "a", "b"}, 40, seconds(0), seconds(4));
  ASSERT_EQ(model.events().size(), 1U);
  EXPECT_EQ(model.events().front().boundary, "b");
}

TEST(PartitionModelTest, LoadBelowTheLimitNeverSplits) {
  PartitionModel model(Small());
  EXPECT_EQ(Load(model, {"a", "b"}, 10, seconds(0), seconds(60)), 600);
  EXPECT_TRUE(model.events().empty());
}

TEST(PartitionModelTest, QuietSecondRestartsTheDelay) {
  PartitionModel model(Small());
  Load(model, {"a", "b"}, 40, seconds(0), seconds(2));
  Load(model, {"a", "b"}, 40, seconds(4), seconds(6));
  EXPECT_TRUE(model.events().empty());
  Load(model, {"a", "b"}, 40, seconds(6), milliseconds(7'100));
  EXPECT_EQ(model.events().size(), 1U);
}

TEST(PartitionModelTest, OneHotKeyIsNotSplit) {
  PartitionModel model(Small());
  EXPECT_EQ(Load(model, {"only"}, 40, seconds(0), seconds(10)), 2 + 99);
  EXPECT_EQ(model.partitions(), 1U);
}

TEST(PartitionModelTest, SplitsUntilTheLoadFits) {
  PartitionModel model(Small());
  std::vector<std::string> keys;
  for (int i = 0; i < 16; ++i)
    keys.push_back("p/" + std::string(1, static_cast<char>('a' + i)) + "/x");
  Load(model, keys, 80, seconds(0), seconds(30));
  EXPECT_EQ(model.partitions(), 8U);
  EXPECT_GE(Load(model, keys, 80, seconds(30), seconds(31)), 80 - 1);
}

TEST(PartitionModelTest, RespectsMaxPartitions) {
  Limits limits = Small();
  limits.max_partitions = 2;
  PartitionModel model(limits);
  Load(model, {"a", "b", "c", "d"}, 80, seconds(0), seconds(30));
  EXPECT_EQ(model.partitions(), 2U);
}

TEST(PartitionModelTest, MergesIdlePartitions) {
  PartitionModel model(Small());
  Load(model, {"a", "b"}, 40, seconds(0), milliseconds(3'500));
  ASSERT_EQ(model.partitions(), 2U);
  Load(model, {"a"}, 1, seconds(5), seconds(13));
  EXPECT_EQ(model.partitions(), 2U) << "not before merge_after";
  Load(model, {"a"}, 1, seconds(13), seconds(16));
  EXPECT_EQ(model.partitions(), 1U);
  ASSERT_EQ(model.events().size(), 2U);
  EXPECT_EQ(model.events().back().kind, PartitionEvent::Kind::kMerge);
  EXPECT_EQ(model.events().back().boundary, "b");
}

TEST(PartitionModelTest, DoesNotMergeWithABusyPartition) {
  PartitionModel model(Small());
  Load(model, {"a", "b"}, 40, seconds(0), milliseconds(3'500));
  Load(model, {"b"}, 5, seconds(4), seconds(40));
  EXPECT_EQ(model.partitions(), 2U);
}

TEST(PartitionModelTest, BucketMayStartWithSeveralPartitions) {
  PartitionModel model(Small());
  model.Cut({"b", "c", "b"}, seconds(0));
  EXPECT_EQ(model.partitions(), 3U);
  EXPECT_EQ(Load(model, {"a", "b", "c"}, 25, seconds(5), seconds(6)), 25);
  EXPECT_TRUE(model.events().empty());
}

TEST(PartitionModelTest, GaugesReportRequestsPerPartition) {
  PartitionModel model(Small());
  Load(model, {"a", "b"}, 40, seconds(0), seconds(3));
  Load(model, {"a"}, 8, seconds(3), milliseconds(4'000));
  const std::vector<PartitionGauge> gauges = model.Gauges(seconds(4));
  ASSERT_EQ(gauges.size(), 2U);
  EXPECT_EQ(gauges[0].begin, "");
  EXPECT_EQ(gauges[0].end, "b");
  EXPECT_EQ(gauges[1].begin, "b");
  EXPECT_EQ(gauges[1].end, "");
  EXPECT_EQ(gauges[0].reads.last_second, 8U);
  EXPECT_EQ(gauges[0].reads.admitted + gauges[0].reads.refused, 8U);
  EXPECT_EQ(gauges[1].reads.last_second, 0U);
  EXPECT_NE(gauges[0].id, gauges[1].id);
}

TEST(PartitionModelTest, TimeThatRunsBackwardsStandsStill) {
  PartitionModel model(Small());
  EXPECT_TRUE(model.Admit("a", Traffic::kWrite, seconds(100)).admitted);
  EXPECT_FALSE(model.Admit("a", Traffic::kWrite, seconds(1)).admitted);
  EXPECT_TRUE(model.Admit("a", Traffic::kWrite, milliseconds(100'200)).admitted);
}

TEST(PartitionModelTest, KeepsOnlyTheLatestEvents) {
  Limits limits = Small();
  limits.split_after = seconds(1);
  limits.merge_after = seconds(1);
  PartitionModel model(limits);
  Instant now{};
  for (int round = 0; round < 600; ++round, now += seconds(8)) {
    Load(model, {"a", "b"}, 40, now, now + milliseconds(1'500));
    Load(model, {"a"}, 1, now + seconds(3), now + seconds(7));
  }
  EXPECT_EQ(model.events().size(), PartitionModel::kMaxEvents);
}

}  // namespace
}  // namespace penstock::emulator::traffic
