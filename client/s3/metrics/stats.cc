#include "penstock/stats.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace penstock {

std::chrono::nanoseconds TimeHistogram::Quantile(double share) const {
  if (count == 0) return {};
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(count);
  double below = 0;
  for (const Bucket& bucket : buckets) {
    const auto here = static_cast<double>(bucket.count);
    if (below + here >= wanted) {
      const auto width = static_cast<double>((bucket.end - bucket.begin).count());
      const double within = std::clamp((wanted - below) / here, 0.0, 1.0);
      return bucket.begin + std::chrono::nanoseconds(std::llround(width * within));
    }
    below += here;
  }
  return buckets.back().end;
}

void TimeHistogram::Merge(const TimeHistogram& other) {
  std::map<std::chrono::nanoseconds, Bucket> by_begin;
  for (const Bucket& bucket : buckets) by_begin.emplace(bucket.begin, bucket);
  for (const Bucket& bucket : other.buckets) {
    const auto [found, added] = by_begin.emplace(bucket.begin, bucket);
    if (!added) found->second.count += bucket.count;
  }
  count += other.count;
  sum += other.sum;
  buckets.clear();
  for (const auto& [begin, bucket] : by_begin) buckets.push_back(bucket);
}

}  // namespace penstock
