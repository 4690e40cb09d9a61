#include "emulator/traffic/limits/token_bucket.h"

#include <algorithm>

#include "penstock/base/check.h"

namespace penstock::emulator::traffic {
namespace {

constexpr std::uint64_t kLargest = 4'000'000'000;  // kLargest * kToken fits in std::int64_t.

std::int64_t Checked(std::uint64_t value) {
  PENSTOCK_CHECK(value >= 1 && value <= kLargest);
  return static_cast<std::int64_t>(value);
}

}  // namespace

TokenBucket::TokenBucket(std::uint64_t per_second, std::uint64_t burst)
    : per_second_(Checked(per_second)), capacity_(Checked(burst) * kToken), level_(capacity_) {}

void TokenBucket::Refill(Instant now) {
  if (last_ == Instant::min()) last_ = now;
  if (now <= last_) return;
  const std::int64_t missing = capacity_ - level_;
  // After this many nanoseconds the bucket is full, so the product below cannot overflow.
  const std::int64_t to_full = missing / per_second_ + 1;
  const std::int64_t elapsed = (now - last_).count();
  level_ = elapsed >= to_full ? capacity_ : level_ + elapsed * per_second_;
  last_ = now;
}

bool TokenBucket::Take(Instant now) {
  Refill(now);
  if (level_ < kToken) return false;
  level_ -= kToken;
  return true;
}

std::uint64_t TokenBucket::Level(Instant now) {
  Refill(now);
  return static_cast<std::uint64_t>(level_ / kToken);
}

std::chrono::nanoseconds TokenBucket::Wait(Instant now) {
  Refill(now);
  const std::int64_t missing = std::max<std::int64_t>(0, kToken - level_);
  return std::chrono::nanoseconds((missing + per_second_ - 1) / per_second_);
}

}  // namespace penstock::emulator::traffic
