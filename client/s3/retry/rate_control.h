// How fast one prefix of a bucket may be asked, learned from its 503s and shared by all Clients of
// the process.
//
// S3 limits the requests a second to each partition of a bucket's keys, and tells nobody the limit,
// where partitions begin or who else asks. Processes that share a prefix share its rate without
// talking: see docs/decisions/0044.
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

// One prefix's rate. Unlimited until a good part of its requests is refused; then it settles for 40
// s, in which one refusal in six tells processes what is everybody's share, and goes on probing in
// small steps, with one refusal in some 200.
class PrefixRate final : public RateLimiter {
 public:
  explicit PrefixRate(std::uint64_t seed) : random_(seed | 1) {}

  Turn Join(MonotonicTime now) override;
  std::chrono::nanoseconds WaitFor(Turn turn, MonotonicTime now) override;
  void Leave(Turn turn, MonotonicTime now) override;
  void OnAnswer(bool throttled, MonotonicTime sent, MonotonicTime now) override;

  // Requests a second it admits; 0: all.
  double rate() const;

 private:
  enum class Phase { kWatching, kSettling, kSteady };

  void Watch(bool throttled, MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Settle(double rate, MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Cut(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void Advance(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void EndSettling() PENSTOCK_REQUIRES(mutex_);
  double Gain() const PENSTOCK_REQUIRES(mutex_);
  double Step() const PENSTOCK_REQUIRES(mutex_);
  double NextRandom() PENSTOCK_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Phase phase_ PENSTOCK_GUARDED_BY(mutex_) = Phase::kWatching;
  TurnLine line_ PENSTOCK_GUARDED_BY(mutex_);
  double share_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // of late answers that were refusals
  double rate_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  MonotonicTime since_ PENSTOCK_GUARDED_BY(mutex_){};      // the phase began
  MonotonicTime last_cut_ PENSTOCK_GUARDED_BY(mutex_){};   // or the phase's begin
  MonotonicTime last_wait_ PENSTOCK_GUARDED_BY(mutex_){};  // somebody was in line
  // While watching: since the first of these refusals.
  int refused_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int answered_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // While settling.
  int cuts_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  double area_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // of the rate over the last part of the time
  double area_time_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t random_ PENSTOCK_GUARDED_BY(mutex_);
};

// What shares a rate.
struct RateScope {
  std::string_view host;
  std::string_view bucket;
  std::string_view key;  // up to its second '/' it is the prefix
  bool writes = false;   // S3 counts PUT, POST and DELETE apart from GET and HEAD
};

// A table of fixed size; scopes whose hashes collide share a rate.
//
// Thread safety: safe from any thread. A forked child has its own.
class RateControl {
 public:
  static RateControl& PerProcess();

  RateControl() = default;
  RateControl(const RateControl&) = delete;
  RateControl& operator=(const RateControl&) = delete;
  ~RateControl();

  // The scope's rate, or null as long as it was never refused anything. Where nothing ever was: one
  // relaxed load.
  RateLimiter* Find(const RateScope& scope) const {
    return used_.load(std::memory_order_relaxed) ? Look(scope) : nullptr;
  }
  // The same, made where there is none. Lives as long as this.
  RateLimiter& For(const RateScope& scope);

 private:
  RateLimiter* Look(const RateScope& scope) const;

  std::atomic<bool> used_{false};
  std::array<std::atomic<PrefixRate*>, 1024> rates_{};  // owned
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_RATE_CONTROL_H_
