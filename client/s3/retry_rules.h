// When to try again and how long to wait (spec/protocol.md §5): pure rules, and the token bucket that keeps a failing
// service from being hammered. The loop that applies them is dispatcher.h's.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RULES_H_
#define PENSTOCK_CLIENT_S3_RETRY_RULES_H_

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/error.h"

namespace penstock::s3 {

enum class RetryDecision {
  kNo,
  kTransient,  // connection, 5xx, short body
  kTimeout,    // as transient, but dearer in tokens
  kThrottled,  // back off further
};

RetryDecision DecideRetry(const Error& error);

// Full jitter: random * min(scale * 2^(attempt - 1), 20 s), where `attempt` is the 1-based one that failed and `random`
// is in [0, 1). Scale 50 ms; 250 ms after throttling, where AWS's coming standard has 1 s for 3 attempts: with 10 the
// waits add up to more. A server's hint is honoured up to 5 s beyond the drawn delay.
std::chrono::nanoseconds BackOff(RetryDecision decision, int attempt, double random,
                                 std::optional<std::chrono::milliseconds> hint);

// Whether a refusal may come from a wrong local clock, seen from the Date header of the answer: the offset to add to
// the local clock, if it is more than 4 minutes away from `corrected_now`.
std::optional<std::chrono::seconds> ClockSkew(const Error& error, std::string_view method, std::string_view date_header,
                                              WallTime local_now, WallTime corrected_now);

// 500 tokens: a retry takes 5, after a timeout 10; a success gives back what its last retry took, else 1. Empty: no
// retry. Lock-free, so that a fork cannot leave it locked.
//
// Thread safety: safe from any thread.
class RetryQuota {
 public:
  static constexpr int kCapacity = 500;
  // Tokens taken, or 0 when there are not enough.
  int Take(RetryDecision decision);
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

#endif  // PENSTOCK_CLIENT_S3_RETRY_RULES_H_
