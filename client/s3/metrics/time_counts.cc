#include "client/s3/metrics/time_counts.h"

#include <algorithm>
#include <bit>

namespace penstock::s3 {
namespace {

constexpr int kSubBits = std::countr_zero(TimeCounts::kSubBuckets);

}  // namespace

std::size_t TimeCounts::BucketOf(std::chrono::nanoseconds time) {
  const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0) / 1000);
  if (us < kSubBuckets) return us;
  // The leading bit selects the doubling, the next three bits the bucket within it.
  const int shift = static_cast<int>(std::bit_width(us)) - 1 - kSubBits;
  const std::size_t bucket = (static_cast<std::size_t>(shift) << kSubBits) + (us >> shift);
  return std::min(bucket, kBuckets - 1);
}

std::chrono::nanoseconds TimeCounts::BeginOf(std::size_t bucket) {
  std::uint64_t us = bucket;
  if (bucket >= kSubBuckets) {
    const std::size_t shift = (bucket >> kSubBits) - 1;
    us = (kSubBuckets + (bucket & (kSubBuckets - 1))) << shift;
  }
  return std::chrono::microseconds(us);
}

void TimeCounts::Add(std::chrono::nanoseconds time) {
  counts_[BucketOf(time)].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(std::max<std::int64_t>(time.count(), 0), std::memory_order_relaxed);
}

TimeHistogram TimeCounts::Snapshot() const {
  TimeHistogram histogram;
  histogram.sum = std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed));
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t count = counts_[bucket].load(std::memory_order_relaxed);
    if (count == 0) continue;
    histogram.count += count;
    histogram.buckets.push_back({BeginOf(bucket), BeginOf(bucket + 1), count});
  }
  return histogram;
}

}  // namespace penstock::s3
