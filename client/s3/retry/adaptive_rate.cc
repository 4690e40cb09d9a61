#include "client/s3/retry/adaptive_rate.h"

#include <algorithm>
#include <cmath>

namespace penstock::s3 {
namespace {

constexpr double kBeta = 0.7;
constexpr double kScale = 0.4;
constexpr double kSmoothing = 0.8;
constexpr double kBucketsPerSecond = 2;
constexpr double kMinRate = 0.5;
constexpr double kMinCapacity = 1;
constexpr double kMaxShareOfMeasured = 2;

}  // namespace

AdaptiveRate::AdaptiveRate(MonotonicTime now) : zero_(now) { line_.Reset(now); }

void AdaptiveRate::Advance(MonotonicTime now) {
  line_.Move(rate_, std::max(rate_, kMinCapacity), now);
}

Turn AdaptiveRate::Join(MonotonicTime now) {
  const MutexLock lock(mutex_);
  if (!enabled_) return 0;
  Advance(now);
  return line_.Join();
}

std::chrono::nanoseconds AdaptiveRate::WaitFor(Turn turn, MonotonicTime now) {
  if (turn == 0) return {};
  const MutexLock lock(mutex_);
  Advance(now);
  return line_.WaitFor(turn, rate_);
}

void AdaptiveRate::Leave(Turn turn, MonotonicTime now) {
  if (turn == 0) return;
  const MutexLock lock(mutex_);
  Advance(now);
  line_.Leave();
}

void AdaptiveRate::Measure(MonotonicTime now) {
  const double bucket = std::floor(Seconds(now - zero_) * kBucketsPerSecond) / kBucketsPerSecond;
  in_bucket_ += 1;
  if (bucket <= bucket_began_) return;
  const double current = in_bucket_ / (bucket - bucket_began_);
  measured_ = kSmoothing * current + (1 - kSmoothing) * measured_;
  in_bucket_ = 0;
  bucket_began_ = bucket;
}

void AdaptiveRate::OnResponse(bool throttled, MonotonicTime, MonotonicTime now) {
  const MutexLock lock(mutex_);
  Measure(now);
  if (enabled_) Advance(now);
  const double at = Seconds(now - zero_);
  double wanted = 0;
  if (throttled) {
    w_max_ = enabled_ ? std::min(measured_, rate_) : measured_;
    k_ = std::cbrt(w_max_ * (1 - kBeta) / kScale);
    last_failure_ = at;
    wanted = w_max_ * kBeta;
    if (!enabled_) line_.Reset(now);
    enabled_ = true;
  } else {
    wanted = kScale * std::pow(at - last_failure_ - k_, 3) + w_max_;
  }
  rate_ = std::max(std::min(wanted, kMaxShareOfMeasured * measured_), kMinRate);
}

double AdaptiveRate::rate() const {
  const MutexLock lock(mutex_);
  return enabled_ ? rate_ : 0;
}

}  // namespace penstock::s3
