// Models of how S3 clients react to 503 SlowDown (AWS SDKs and Tools Reference Guide, "Retry
// behavior"). Reduced to what a simulation needs: whether and when to retry, and how fast to send.
#ifndef PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_
#define PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::simulate {

using Instant = std::chrono::nanoseconds;  // Virtual time since the start of the job.

struct RetryPolicy {
  std::string_view name;
  int max_attempts = 3;
  double scale_s = 1;  // The delay after attempt n is random * min(scale * 2^(n-1), cap).
  double cap_s = 20;
  int quota = 0;  // Initial and maximum tokens. 0: retries cost no tokens.
  int retry_cost = 5;
  bool paced = false;  // Limits the request rate. Throttling lowers the limit, success raises it.
};

// Finds a policy by name: "legacy", "standard", "adaptive" (modes of the AWS SDKs), "crt" (AWS
// Common Runtime as configured by s3torchconnector) or "penstock". Returns kInvalidArgument that
// lists the names.
Result<RetryPolicy> FindPolicy(std::string_view name);
std::vector<std::string_view> PolicyNames();

// The retry state of one client: its quota and, if paced, its rate. Only throttling is modelled, so
// every rejection costs the same.
//
// Thread safety: one thread at a time.
class RetryState {
 public:
  explicit RetryState(const RetryPolicy& policy) : policy_(&policy), tokens_(policy.quota) {}

  // Returns when a request that is ready at `now` may be sent. `now` must not decrease between
  // calls.
  Instant Send(Instant now);
  // Call when attempt `attempt` (1-based) was rejected. Returns when to retry; nullopt: give up.
  // `random` is in [0, 1).
  std::optional<Instant> Refused(Instant now, int attempt, double random);
  // Call when attempt `attempt` succeeded.
  void Succeeded(Instant now, int attempt);

  double rate() const { return rate_; }  // Requests per second. 0: no limit yet.

 private:
  void Measure(Instant now);
  void SetRate(double rate, Instant now);

  const RetryPolicy* policy_;
  int tokens_;
  // Rate limit of adaptive mode. Inactive until the first rejection.
  double rate_ = 0;
  double level_ = 0;  // Tokens at time `filled_`.
  Instant filled_{};
  double measured_ = 0;  // Requests per second, smoothed over half seconds.
  std::int64_t half_second_ = 0;
  double sent_ = 0;      // Requests in the current half second.
  double last_max_ = 0;  // w_max of CUBIC.
  Instant throttled_at_{};
};

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_
