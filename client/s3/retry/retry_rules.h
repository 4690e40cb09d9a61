// When to try again and how long to wait (spec/protocol.md §5): pure rules, and the token bucket
// that keeps a failing service from being hammered. The loop that applies them is dispatcher.h's.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_
#define PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/error.h"
#include "penstock/client.h"

namespace penstock::s3 {

enum class RetryDecision {
  kNo,
  kTransient,  // connection, 5xx, short body
  kTimeout,    // as transient, but dearer in tokens in some modes
  kThrottled,  // back off further
};

// A retry mode as numbers. Delays are full jitter: random * min(scale * 2^(n - 1), cap) after the
// n-th attempt.
struct RetryRules {
  RetryMode mode = RetryMode::kTuned;
  std::string_view name;  // as AWS_RETRY_MODE spells it
  bool of_2026 = false;
  int max_attempts = 10;  // where nobody says
  std::chrono::milliseconds transient_scale{};
  std::chrono::milliseconds throttled_scale{};
  std::optional<std::chrono::seconds> cap;  // unset: none
  // What a retry takes from the quota of RetryQuota; 0: nothing, it is not asked.
  int transient_cost = 0;
  int timeout_cost = 0;
  int throttled_cost = 0;
  bool heeds_hint = false;  // x-amz-retry-after, and Retry-After

  int Cost(RetryDecision decision) const;
};

// The table of modes; docs/retries.md prints it. The last two are standard and adaptive where
// AWS_NEW_RETRIES_2026 is true. Ours has 50 ms and, after throttling, 250 ms, where AWS's coming
// standard has 1 s for 3 attempts: with 10 the waits add up to more. Its throttled retries are
// free: rate_control.h keeps them from hammering the service.
inline constexpr std::array<RetryRules, 6> kRetryRules = {{
    {RetryMode::kTuned, "tuned", false, 10, std::chrono::milliseconds(50),
     std::chrono::milliseconds(250), std::chrono::seconds(20), 5, 10, 0, true},
    {RetryMode::kLegacy,
     "legacy",
     false,
     5,
     std::chrono::milliseconds(1000),
     std::chrono::milliseconds(1000),
     {},
     0,
     0,
     0,
     false},
    {RetryMode::kStandard, "standard", false, 3, std::chrono::milliseconds(1000),
     std::chrono::milliseconds(1000), std::chrono::seconds(20), 5, 10, 5, false},
    {RetryMode::kAdaptive, "adaptive", false, 3, std::chrono::milliseconds(1000),
     std::chrono::milliseconds(1000), std::chrono::seconds(20), 5, 10, 5, false},
    {RetryMode::kStandard, "standard", true, 3, std::chrono::milliseconds(50),
     std::chrono::milliseconds(1000), std::chrono::seconds(20), 14, 14, 5, true},
    {RetryMode::kAdaptive, "adaptive", true, 3, std::chrono::milliseconds(50),
     std::chrono::milliseconds(1000), std::chrono::seconds(20), 14, 14, 5, true},
}};

// kDefault is kTuned. Modes without rules of 2026 have one set.
const RetryRules& RetryRulesOf(RetryMode mode, bool of_2026 = false);

// Whether `error` is tried again. kTuned and the AWS modes differ: standard repeats neither
// BadDigest nor a bare 429, legacy goes by the status.
RetryDecision DecideRetry(const RetryRules& rules, const Error& error);

// The wait after the 1-based `attempt` that failed; `random` is in [0, 1). A server's hint is
// honoured up to 5 s beyond the drawn delay.
std::chrono::nanoseconds BackOff(const RetryRules& rules, RetryDecision decision, int attempt,
                                 double random, std::optional<std::chrono::milliseconds> hint);

// Whether a refusal may come from a wrong local clock, seen from the Date header of the answer: the
// offset to add to the local clock, if it is more than 4 minutes away from `corrected_now`.
std::optional<std::chrono::seconds> ClockSkew(const Error& error, std::string_view method,
                                              std::string_view date_header, WallTime local_now,
                                              WallTime corrected_now);

// 500 tokens: a retry takes some (RetryRules::Cost); a success gives back what its last retry took,
// else 1. Empty: no retry. Lock-free, so that a fork cannot leave it locked.
//
// Thread safety: safe from any thread.
class RetryQuota {
 public:
  static constexpr int kCapacity = 500;
  // False when there are not so many; none at all are always there.
  bool Take(int cost);
  void OnSuccess(int last_taken);
  int tokens() const { return tokens_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> tokens_{kCapacity};
};

// One quota per host in a table of fixed size; hosts whose names collide share one.
//
// Thread safety: safe from any thread.
class RetryQuotas {
 public:
  RetryQuota& For(std::string_view host);

 private:
  std::array<RetryQuota, 64> quotas_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_
