#include "penstock/base/clock.h"

#include <algorithm>

namespace penstock {
namespace {

class MachineClock final : public Clock {
 public:
  WallTime Now() const override { return std::chrono::system_clock::now(); }
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& SystemClock() {
  // Never destroyed: I/O threads may still ask for the time while the process ends.
  static const Clock& clock = *new MachineClock;
  return clock;
}

Deadline Deadline::After(const Clock& clock, std::chrono::nanoseconds duration) {
  const MonotonicTime now = clock.Monotonic();
  if (duration > MonotonicTime::max() - now) return Never();
  return At(now + duration);
}

std::chrono::nanoseconds Deadline::Left(const Clock& clock) const {
  if (IsNever()) return std::chrono::nanoseconds::max();
  return std::max(std::chrono::nanoseconds::zero(), when_ - clock.Monotonic());
}

}  // namespace penstock
