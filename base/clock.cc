#include "penstock/base/clock.h"

#include <algorithm>

namespace penstock {
namespace {

class MachineClock final : public Clock {
 public:
  WallTime Now() const override { return std::chrono::system_clock::now(); }
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
};

// Never destroyed, because I/O threads may read the time while the process exits. Initialized
// statically, because a forked child could inherit the guard of a local static locked.
union NeverDestroyed {
  constexpr NeverDestroyed() : clock() {}
  constexpr ~NeverDestroyed() {
  }  // NOLINT(modernize-use-equals-default): a defaulted one would be deleted
  MachineClock clock;
};
constinit const NeverDestroyed machine;

}  // namespace

const Clock& SystemClock() { return machine.clock; }

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
