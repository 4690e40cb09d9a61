// Who may send when: a line of turns that moves at a rate, and what learns that rate from how the
// service answers.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RATE_LIMITER_H_
#define PENSTOCK_CLIENT_S3_RETRY_RATE_LIMITER_H_

#include <algorithm>
#include <chrono>

#include "penstock/base/clock.h"

namespace penstock::s3 {

inline double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// A place in a line. 0: it may go at once, whatever the line does.
using Turn = double;

// Thread safety: safe from any thread.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // Gets in line.
  virtual Turn Join(MonotonicTime now) = 0;
  // Zero: it is this one's turn. Else about how long that takes yet; ask again then, the rate may
  // have changed.
  virtual std::chrono::nanoseconds WaitFor(Turn turn, MonotonicTime now) = 0;
  // The turn will not be used.
  virtual void Leave(Turn turn, MonotonicTime now) = 0;
  // What was sent at `sent` came back, by a throttling error or in another way.
  virtual void OnAnswer(bool throttled, MonotonicTime sent, MonotonicTime now) = 0;
};

// Turns are numbers; what the line has admitted grows with time at a rate, whatever the rate was
// when they joined. One thread at a time.
class TurnLine {
 public:
  // Nobody is in line, and the first may go at once.
  void Reset(MonotonicTime now) {
    joined_ = admitted_ = 0;
    moved_ = now;
  }
  // Moves it on; saves at most `burst` turns for those who come. Returns the seconds that have
  // passed.
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
    // A tenth of a millisecond more than it takes: to be a little early costs another look.
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
