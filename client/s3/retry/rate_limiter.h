// Decides when a request may be sent: a queue that moves at a rate, and the interface of classes
// that learn the rate from responses.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RATE_LIMITER_H_
#define PENSTOCK_CLIENT_S3_RETRY_RATE_LIMITER_H_

#include <algorithm>
#include <chrono>

#include "penstock/base/clock.h"

namespace penstock::s3 {

inline double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// A place in the queue. 0: may be sent at once.
using Turn = double;

// Thread safety: may be used from any thread.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // Joins the queue.
  virtual Turn Join(MonotonicTime now) = 0;
  // Returns zero if it is this request's turn, else the approximate wait. Call again after it,
  // because the rate may have changed.
  virtual std::chrono::nanoseconds WaitFor(Turn turn, MonotonicTime now) = 0;
  // Gives up a turn.
  virtual void Leave(Turn turn, MonotonicTime now) = 0;
  // Records the response, or the lack of one, to a request sent at `sent`.
  virtual void OnResponse(bool throttled, MonotonicTime sent, MonotonicTime now) = 0;
};

// Turns are numbers. The number of admitted turns grows with time at the current rate, whatever the
// rate was when a request joined. Not thread-safe.
class TurnLine {
 public:
  // Empties the queue; the first request may be sent at once.
  void Reset(MonotonicTime now) {
    joined_ = admitted_ = 0;
    moved_ = now;
  }
  // Admits turns up to `now`; at most `burst` unused turns are saved. Returns the seconds since the
  // last call.
  double Move(double rate, double burst, MonotonicTime now) {
    const double passed = std::max(0.0, Seconds(now - moved_));
    moved_ = std::max(moved_, now);
    admitted_ = std::min(admitted_ + rate * passed, joined_ + burst);
    return passed;
  }
  Turn Join(double delay_turns = 0) { return ++joined_ + delay_turns; }
  void Leave() { admitted_ += 1; }
  bool waits() const { return joined_ > admitted_; }
  std::chrono::nanoseconds WaitFor(Turn turn, double rate) const {
    const double missing = turn - admitted_;
    if (missing <= 1e-9) return {};
    // Wait 0.1 ms longer: an early wake-up costs another call.
    const double seconds = std::min(missing / rate + 1e-4, 1.0);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }

 private:
  double joined_ = 0;
  double admitted_ = 0;
  MonotonicTime moved_{};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_RATE_LIMITER_H_
