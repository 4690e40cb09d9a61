#include "penstock/stats.h"

#include <gtest/gtest.h>

#include "client/s3/metrics/time_counts.h"

namespace penstock::s3 {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// 1 to 1000 ms, uniformly distributed, so the quantiles are known.
TEST(StatsTest, QuantilesAreWithinABucketsWidth) {
  TimeCounts counts;
  for (int i = 1; i <= 1000; ++i) counts.Add(milliseconds(i));
  const TimeHistogram histogram = counts.Snapshot();
  for (const double share : {0.1, 0.5, 0.9, 0.99}) {
    const double expected = share * 1e9;
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(share).count()), expected, expected / 8)
        << share;
  }
  EXPECT_LE(histogram.Quantile(0), milliseconds(1));
  EXPECT_GE(histogram.Quantile(1), milliseconds(1000));
  EXPECT_EQ(histogram.Quantile(7), histogram.Quantile(1));
}

TEST(StatsTest, AnEmptyHistogramHasQuantileZero) {
  EXPECT_EQ(TimeHistogram().Quantile(0.5), nanoseconds(0));
}

TEST(StatsTest, MergeAddsBucketByBucket) {
  TimeCounts a;
  TimeCounts b;
  a.Add(microseconds(1));
  a.Add(microseconds(5));
  b.Add(microseconds(5));
  b.Add(microseconds(2));
  TimeHistogram merged = a.Snapshot();
  merged.Merge(b.Snapshot());
  EXPECT_EQ(merged.count, 4u);
  EXPECT_EQ(merged.sum, microseconds(13));
  ASSERT_EQ(merged.buckets.size(), 3u);
  EXPECT_EQ(merged.buckets[1].begin, microseconds(2));
  EXPECT_EQ(merged.buckets[2].count, 2u);
}

}  // namespace
}  // namespace penstock::s3
