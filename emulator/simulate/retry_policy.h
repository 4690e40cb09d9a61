// How the clients of the field meet 503 SlowDown (protocol.md §5, performance.md §5), reduced to
// what a simulation needs: whether to try again, when, and how fast to send.
#ifndef PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_
#define PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::simulate {

using Instant = std::chrono::nanoseconds;  // of virtual time, from the job's begin

struct RetryPolicy {
  std::string_view name;
  int max_attempts = 3;
  double scale_s = 1;  // the wait after attempt n is random * min(scale * 2^(n-1), cap)
  double cap_s = 20;
  int quota = 0;  // tokens at first and at most; 0: retries cost nothing
  int retry_cost = 5;
  bool paced = false;  // sends no faster than a rate that throttling lowers and success raises
};

// "legacy", "standard", "adaptive" (the AWS SDKs' modes), "crt" (the AWS Common Runtime as
// s3torchconnector sets it up) and "penstock". kInvalidArgument names what there is.
Result<RetryPolicy> FindPolicy(std::string_view name);
std::vector<std::string_view> PolicyNames();

// One client's memory: its quota and, where paced, its rate. Throttling alone is modelled, so every
// refusal costs the same.
//
// Thread safety: one thread at a time.
class RetryState {
 public:
  explicit RetryState(const RetryPolicy& policy) : policy_(&policy), tokens_(policy.quota) {}

  // When a request that is ready at `now` may leave. Times asked for must not go back.
  Instant Send(Instant now);
  // After attempt `attempt` (from 1 on) was refused: when to try again, nullopt: give up. `random`
  // is in [0, 1).
  std::optional<Instant> Refused(Instant now, int attempt, double random);
  // After attempt `attempt` succeeded.
  void Succeeded(Instant now, int attempt);

  double rate() const { return rate_; }  // requests a second; 0: not paced so far

 private:
  void Measure(Instant now);
  void SetRate(double rate, Instant now);

  const RetryPolicy* policy_;
  int tokens_;
  // Adaptive mode's pacing (protocol.md §5): off until the first refusal.
  double rate_ = 0;
  double level_ = 0;  // tokens there at `filled_`
  Instant filled_{};
  double measured_ = 0;  // requests a second, smoothed over half seconds
  std::int64_t half_second_ = 0;
  double sent_ = 0;      // in the running half second
  double last_max_ = 0;  // CUBIC's w_max
  Instant throttled_at_{};
};

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_RETRY_POLICY_H_
