#include "emulator/simulate/recorder.h"

#include <numeric>

#include "gtest/gtest.h"

namespace penstock::emulator::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

traffic::Verdict To(std::uint32_t partition, bool admitted = true) {
  return {.admitted = admitted, .partition = partition, .begin = "k"};
}

TEST(RecorderTest, CountsRequestsPerInterval) {
  Recorder recorder;
  recorder.Sent(milliseconds(0), To(0), 1, false);
  recorder.Sent(milliseconds(99), To(0, false), 1, false);
  recorder.Sent(milliseconds(250), To(0), 2, true);
  const Report report = recorder.Finish(seconds(1), traffic::PartitionModel({}));
  EXPECT_EQ(report.interval, Instant(milliseconds(100)));
  ASSERT_EQ(report.intervals.size(), 3U);
  EXPECT_EQ(report.intervals[0].requests, 2U);
  EXPECT_EQ(report.intervals[0].refused, 1U);
  EXPECT_EQ(report.intervals[1].requests, 0U);
  EXPECT_EQ(report.intervals[1].partitions, 1U) << "an interval without requests keeps the count";
  EXPECT_EQ(report.intervals[2].partitions, 2U);
  EXPECT_EQ(report.requests, 3U);
  EXPECT_EQ(report.refused, 1U);
  EXPECT_EQ(report.retries, 1U);
}

TEST(RecorderTest, LongJobsHaveLongerIntervalsWithTheSameSums) {
  Recorder recorder;
  constexpr std::uint64_t kCount = 5'000;
  for (std::uint64_t i = 0; i < kCount; ++i)
    recorder.Sent(seconds(i), To(static_cast<std::uint32_t>(i % 3)), 3, false);
  const Report report = recorder.Finish(seconds(kCount), traffic::PartitionModel({}));
  EXPECT_LE(report.intervals.size(), Recorder::kMaxIntervals);
  std::uint64_t sum = 0;
  for (const Interval& interval : report.intervals) sum += interval.requests;
  EXPECT_EQ(sum, kCount);
  ASSERT_EQ(report.partitions.size(), 3U);
  for (const PartitionSeries& series : report.partitions) {
    EXPECT_EQ(series.requests.size(), report.intervals.size());
    EXPECT_NEAR(static_cast<double>(std::accumulate(series.requests.begin(), series.requests.end(),
                                                    std::uint64_t{0})),
                1'667, 1);
  }
}

TEST(RecorderTest, ReportsTheBusiestPartitions) {
  Recorder recorder;
  for (std::uint32_t partition = 0; partition < 100; ++partition) {
    for (std::uint32_t i = 0; i <= partition; ++i)
      recorder.Sent(seconds(1), To(partition), 100, false);
  }
  const Report report = recorder.Finish(seconds(2), traffic::PartitionModel({}));
  ASSERT_EQ(report.partitions.size(), Recorder::kMaxSeries);
  EXPECT_EQ(report.partitions.front().id, 99U);
  EXPECT_EQ(report.partitions.back().id, 84U);
}

}  // namespace
}  // namespace penstock::emulator::simulate
