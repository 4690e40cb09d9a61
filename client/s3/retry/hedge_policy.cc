#include "client/s3/retry/hedge_policy.h"

#include <algorithm>

namespace penstock::s3 {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint32_t kSamplesPerUpdate = 64;
constexpr std::uint64_t kHalveCountsAt = 4'096;  // The sum of counts from which they are halved.

std::int64_t Nanoseconds(MonotonicTime time) { return time.time_since_epoch().count(); }

}  // namespace

std::optional<nanoseconds> HedgePolicy::OnRead(MonotonicTime now) {
  const std::int64_t delay = hedge_delay_ns_.load(std::memory_order_relaxed);
  if (delay == 0) return std::nullopt;
  // Two threads may pass the check together and exceed the maximum by one read.
  if (budget_.load(std::memory_order_relaxed) < kMaxSavedHedges * kReadsPerHedge)
    budget_.fetch_add(1, std::memory_order_relaxed);
  if (Nanoseconds(now) < not_before_ns_.load(std::memory_order_relaxed)) return std::nullopt;
  return nanoseconds(delay);
}

bool HedgePolicy::Spend() {
  std::int64_t left = budget_.load(std::memory_order_relaxed);
  while (left >= kReadsPerHedge) {
    if (budget_.compare_exchange_weak(left, left - kReadsPerHedge, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void HedgePolicy::Return() { budget_.fetch_add(kReadsPerHedge, std::memory_order_relaxed); }

void HedgePolicy::OnFirstByte(nanoseconds time) {
  counts_[TimeCounts::BucketOf(time)].fetch_add(1, std::memory_order_relaxed);
  if ((samples_.fetch_add(1, std::memory_order_relaxed) + 1) % kSamplesPerUpdate == 0) Learn();
}

void HedgePolicy::OnThrottled(MonotonicTime now) {
  not_before_ns_.store(Nanoseconds(now + kPauseAfterThrottling), std::memory_order_relaxed);
}

void HedgePolicy::Learn() {
  std::array<std::uint32_t, TimeCounts::kBuckets> seen{};
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    total += seen[i] = counts_[i].load(std::memory_order_relaxed);
  if (total < kMinSamples) return;
  const auto end_of = [&seen, total](double share) {
    std::uint64_t below = 0;
    std::size_t bucket = 0;
    while (bucket + 1 < seen.size() &&
           static_cast<double>(below += seen[bucket]) < share * static_cast<double>(total))
      ++bucket;
    return TimeCounts::BeginOf(bucket + 1);
  };
  const nanoseconds median = end_of(0.5);
  const nanoseconds delay = std::max({end_of(kLate), median * 2, nanoseconds(kMinDelay)});
  hedge_delay_ns_.store(median < kMinMedian ? 0 : delay.count(), std::memory_order_relaxed);
  if (total < kHalveCountsAt) return;
  for (std::size_t i = 0; i < seen.size(); ++i)
    counts_[i].fetch_sub(seen[i] - seen[i] / 2, std::memory_order_relaxed);
}

}  // namespace penstock::s3
