// Counts times into a histogram of fixed size. Lock-free.
#ifndef PENSTOCK_CLIENT_S3_METRICS_TIME_COUNTS_H_
#define PENSTOCK_CLIENT_S3_METRICS_TIME_COUNTS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/stats.h"

namespace penstock::s3 {

// Thread safety: may be used from any thread; two relaxed additions per time.
class TimeCounts {
 public:
  // 8 buckets of 1 us, then 8 for each doubling up to 2^32 us. Longer times count in the last
  // bucket.
  static constexpr std::size_t kSubBuckets = 8;
  static constexpr std::size_t kBuckets = kSubBuckets * 30;

  // Negative times count as zero.
  void Add(std::chrono::nanoseconds time);
  TimeHistogram Snapshot() const;

  static std::size_t BucketOf(std::chrono::nanoseconds time);
  // Returns the lower bound of a bucket; `bucket` may be kBuckets.
  static std::chrono::nanoseconds BeginOf(std::size_t bucket);

 private:
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_METRICS_TIME_COUNTS_H_
