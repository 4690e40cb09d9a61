// Decides when a read sends a second request and limits how often: later than nearly all recent
// first bytes, for at most 2 % of the reads.
#ifndef PENSTOCK_CLIENT_S3_RETRY_HEDGE_POLICY_H_
#define PENSTOCK_CLIENT_S3_RETRY_HEDGE_POLICY_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "client/s3/metrics/time_counts.h"
#include "penstock/base/clock.h"

namespace penstock::s3 {

// Uses times and counts only. Lock-free, so that a fork cannot leave it locked.
//
// Thread safety: may be used from any thread; a few relaxed operations per call.
class HedgePolicy {
 public:
  static constexpr std::int64_t kReadsPerHedge = 50;   // 2 %.
  static constexpr std::int64_t kMaxSavedHedges = 32;  // Maximum of hedges at once.
  static constexpr double kLate = 0.985;               // This share of first bytes is not late.
  static constexpr std::uint32_t kMinSamples = 100;
  static constexpr std::chrono::milliseconds kMinDelay{5};
  static constexpr std::chrono::milliseconds kMinMedian{1};
  static constexpr std::chrono::seconds kPauseAfterThrottling{5};

  // Called when a read is sent. Returns the time to wait for its first byte before the second
  // request. Returns nullopt if hedging is not worthwhile or too few times are known; this costs
  // one relaxed load.
  std::optional<std::chrono::nanoseconds> OnRead(MonotonicTime now);
  // Takes one hedge from the budget; false if it is used up. Return adds it again.
  bool Spend();
  void Return();

  // Records the time to a first byte.
  void OnFirstByte(std::chrono::nanoseconds time);
  // Stops hedging for a while after a throttling error.
  void OnThrottled(MonotonicTime now);

 private:
  void Learn();

  std::array<std::atomic<std::uint32_t>, TimeCounts::kBuckets> counts_{};
  std::atomic<std::uint32_t> samples_{0};
  std::atomic<std::int64_t> hedge_delay_ns_{0};  // 0: none.
  std::atomic<std::int64_t> budget_{0};          // In reads.
  std::atomic<std::int64_t> not_before_ns_{INT64_MIN};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_HEDGE_POLICY_H_
