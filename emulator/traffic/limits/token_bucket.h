// A token bucket in integer arithmetic: the same requests at the same times get the same verdicts
// on every machine.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_TOKEN_BUCKET_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_TOKEN_BUCKET_H_

#include <chrono>
#include <cstdint>

namespace penstock::emulator::traffic {

// A point in a namespace's virtual time. The origin is arbitrary; only differences matter.
using Instant = std::chrono::nanoseconds;

// Holds up to `burst` tokens, gains `per_second` tokens per second, and starts full. If time runs
// backwards, it stands still.
//
// Thread safety: one thread at a time.
class TokenBucket {
 public:
  // `per_second`: 1 to 4,000,000,000. `burst`: at least one token, at most 4,000,000,000.
  TokenBucket(std::uint64_t per_second, std::uint64_t burst);

  // Takes a token. Returns false if there is none.
  bool Take(Instant now);
  // The whole tokens available at `now`.
  std::uint64_t Level(Instant now);
  // The time from `now` until a token is available; zero if one is.
  std::chrono::nanoseconds Wait(Instant now);

 private:
  void Refill(Instant now);

  // Levels are in billionths of a token, so `per_second` units accrue per nanosecond.
  static constexpr std::int64_t kToken = 1'000'000'000;
  std::int64_t per_second_;
  std::int64_t capacity_;
  std::int64_t level_;
  Instant last_ = Instant::min();
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_TOKEN_BUCKET_H_
