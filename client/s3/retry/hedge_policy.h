// When a read is asked for a second time, and how often that may happen: later than nearly all
// first bytes of late, and for two of a hundred reads at the most.
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

// Knows times and counts, not requests. Lock-free, so that a fork cannot leave it locked.
//
// Thread safety: safe from any thread; a few relaxed operations per call.
class HedgePolicy {
 public:
  static constexpr std::int64_t kReadsPerHedge = 50;  // 2 %
  static constexpr std::int64_t kMostSaved = 32;      // hedges that may come at once
  static constexpr double kLate = 0.985;              // this share of first bytes is not late
  static constexpr std::uint32_t kLeastSamples = 100;
  static constexpr std::chrono::milliseconds kLeastDelay{5};
  static constexpr std::chrono::milliseconds kLeastMedian{1};
  static constexpr std::chrono::seconds kPauseAfterThrottling{5};

  // A read goes out: how long to wait for its first byte before asking again. nullopt: it is not
  // worth it, or too few times are known. One relaxed load where that is so.
  std::optional<std::chrono::nanoseconds> OnRead(MonotonicTime now);
  // Takes one hedge out of the budget; false: it is spent. Return gives it back.
  bool Spend();
  void Return();

  // A first byte came after `time`.
  void OnFirstByte(std::chrono::nanoseconds time);
  // The service asked to slow down: no hedges for a while.
  void OnThrottled(MonotonicTime now);

 private:
  void Learn();

  std::array<std::atomic<std::uint32_t>, TimeCounts::kBuckets> counts_{};
  std::atomic<std::uint32_t> samples_{0};
  std::atomic<std::int64_t> patience_ns_{0};  // 0: none
  std::atomic<std::int64_t> budget_{0};       // in reads
  std::atomic<std::int64_t> not_before_ns_{INT64_MIN};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_HEDGE_POLICY_H_
