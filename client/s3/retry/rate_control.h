// The allowed request rate of one prefix of a bucket, learned from its 503s and shared by all
// Clients of the process.
//
// S3 limits the requests per second of each partition of a bucket's keys. It publishes neither the
// limit nor the partition boundaries nor the number of clients. Processes that share a prefix
// converge to equal rates without communication: see docs/decisions/0044.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RATE_CONTROL_H_
#define PENSTOCK_CLIENT_S3_RETRY_RATE_CONTROL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "client/s3/retry/rate_limiter.h"
#include "penstock/base/mutex.h"

namespace penstock::s3 {

// The rate of one prefix. Unlimited until a considerable share of the requests is throttled. Then
// it settles for 40 s, during which one throttled request in six shows each process its share.
// After that it probes in small steps, with one throttled request in about 200.
class PrefixRate final : public RateLimiter {
 public:
  explicit PrefixRate(std::uint64_t seed) : random_(seed | 1) {}

  Turn Join(MonotonicTime now) override;
  std::chrono::nanoseconds WaitFor(Turn turn, MonotonicTime now) override;
  void Leave(Turn turn, MonotonicTime now) override;
  void OnResponse(bool throttled, MonotonicTime sent, MonotonicTime now) override;

  // Returns the allowed requests per second; 0: unlimited.
  double rate() const;

 private:
  enum class Phase { kWatching, kSettling, kSteady };

  void Watch(bool throttled, MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void BeginSettling(double rate, MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Cut(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Advance(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void EndSettling() PENSTOCK_REQUIRES(mutex_);
  double Gain() const PENSTOCK_REQUIRES(mutex_);
  double Step() const PENSTOCK_REQUIRES(mutex_);
  double NextRandom() PENSTOCK_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Phase phase_ PENSTOCK_GUARDED_BY(mutex_) = Phase::kWatching;
  TurnLine line_ PENSTOCK_GUARDED_BY(mutex_);
  double share_ PENSTOCK_GUARDED_BY(mutex_) =
      0;  // Of recent responses that were throttling errors.
  double rate_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  MonotonicTime since_ PENSTOCK_GUARDED_BY(mutex_){};      // Start of the phase.
  MonotonicTime last_cut_ PENSTOCK_GUARDED_BY(mutex_){};   // Or the start of the phase.
  MonotonicTime last_wait_ PENSTOCK_GUARDED_BY(mutex_){};  // Last time a request waited.
  // While watching: since the first of these throttling errors.
  int refused_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int accepted_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // While settling.
  int cuts_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double area_ PENSTOCK_GUARDED_BY(mutex_) =
      0;  // Integral of the rate over the last part of the time.
  double area_time_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t random_ PENSTOCK_GUARDED_BY(mutex_);
};

// Requests that share a rate.
struct RateScope {
  std::string_view host;
  std::string_view bucket;
  std::string_view key;  // The prefix is the key up to its second '/'.
  bool writes = false;   // S3 counts PUT, POST and DELETE separately from GET and HEAD.
};

// A table of fixed size. Scopes with equal hashes share a rate.
//
// Thread safety: may be used from any thread. A forked child has its own.
class RateControl {
 public:
  static RateControl& PerProcess();

  RateControl() = default;
  RateControl(const RateControl&) = delete;
  RateControl& operator=(const RateControl&) = delete;
  ~RateControl();

  // Returns the scope's rate, or null if it was never throttled. One relaxed load if nothing was
  // ever throttled.
  RateLimiter* Find(const RateScope& scope) const {
    return used_.load(std::memory_order_relaxed) ? Lookup(scope) : nullptr;
  }
  // Same, but creates a missing one. It lives as long as this object.
  RateLimiter& For(const RateScope& scope);

 private:
  RateLimiter* Lookup(const RateScope& scope) const;

  std::atomic<bool> used_{false};
  std::array<std::atomic<PrefixRate*>, 1024> rates_{};  // Owned.
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_RATE_CONTROL_H_
