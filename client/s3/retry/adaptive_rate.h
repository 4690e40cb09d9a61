// The rate limiter of AWS's retry mode `adaptive`: a token bucket per client whose rate follows
// CUBIC ("Retry behavior", AWS SDKs and Tools Reference Guide).
#ifndef PENSTOCK_CLIENT_S3_RETRY_ADAPTIVE_RATE_H_
#define PENSTOCK_CLIENT_S3_RETRY_ADAPTIVE_RATE_H_

#include "client/s3/retry/rate_limiter.h"
#include "penstock/base/mutex.h"

namespace penstock::s3 {

// Limits nothing before the first throttling error.
class AdaptiveRate final : public RateLimiter {
 public:
  explicit AdaptiveRate(MonotonicTime now);

  Turn Join(MonotonicTime now) override;
  std::chrono::nanoseconds WaitFor(Turn turn, MonotonicTime now) override;
  void Leave(Turn turn, MonotonicTime now) override;
  void OnResponse(bool throttled, MonotonicTime sent, MonotonicTime now) override;

  // Returns the allowed requests per second; 0: unlimited.
  double rate() const;

 private:
  void Advance(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Measure(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);

  mutable Mutex mutex_;
  TurnLine line_ PENSTOCK_GUARDED_BY(mutex_);
  bool enabled_ PENSTOCK_GUARDED_BY(mutex_) = false;
  double rate_ PENSTOCK_GUARDED_BY(mutex_) = 1;
  // The measured rate, in buckets of half a second.
  double measured_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double bucket_began_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double in_bucket_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // CUBIC parameters.
  double w_max_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double k_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double last_failure_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  const MonotonicTime zero_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_ADAPTIVE_RATE_H_
