#include "client/s3/metrics/time_counts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::s3 {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(TimeCountsTest, EveryTimeIsInItsBucketAndBucketsAreNarrow) {
  for (double us = 0; us < 4e9; us = us * 1.01 + 0.37) {
    const nanoseconds time(static_cast<std::int64_t>(us * 1000));
    const std::size_t bucket = TimeCounts::BucketOf(time);
    ASSERT_LT(bucket, TimeCounts::kBuckets);
    const nanoseconds begin = TimeCounts::BeginOf(bucket);
    const nanoseconds end = TimeCounts::BeginOf(bucket + 1);
    ASSERT_LE(begin, time);
    ASSERT_GT(end, time);
    ASSERT_LE((end - begin).count(), std::max<std::int64_t>(1000, begin.count() / 8)) << us;
  }
}

TEST(TimeCountsTest, NegativeTimesAreZeroAndLongTimesAreInTheLastBucket) {
  EXPECT_EQ(TimeCounts::BucketOf(nanoseconds(-5)), 0u);
  EXPECT_EQ(TimeCounts::BucketOf(std::chrono::hours(24 * 365)), TimeCounts::kBuckets - 1);
}

TEST(TimeCountsTest, SnapshotHasCountSumAndOrderedBuckets) {
  TimeCounts counts;
  counts.Add(microseconds(3));
  counts.Add(milliseconds(20));
  counts.Add(microseconds(3));
  const TimeHistogram histogram = counts.Snapshot();
  EXPECT_EQ(histogram.count, 3u);
  EXPECT_EQ(histogram.sum, milliseconds(20) + microseconds(6));
  ASSERT_EQ(histogram.buckets.size(), 2u);
  EXPECT_EQ(histogram.buckets[0].begin, microseconds(3));
  EXPECT_EQ(histogram.buckets[0].end, microseconds(4));
  EXPECT_EQ(histogram.buckets[0].count, 2u);
  EXPECT_EQ(histogram.buckets[1].count, 1u);
}

}  // namespace
}  // namespace penstock::s3
