#include "emulator/server/namespaces/lifecycle_schedule.h"

#include <cmath>

namespace penstock::emulator::server {
namespace {

using std::chrono::days;
using std::chrono::nanoseconds;

std::int64_t DayOf(WallTime time) {
  return std::chrono::floor<days>(time).time_since_epoch().count();
}

}  // namespace

void LifecycleSchedule::Begin(WallTime now) {
  requested_ = false;
  day_ = DayOf(now);
}

std::optional<nanoseconds> LifecycleSchedule::UntilRun(const ClockState& clock) const {
  if (requested_ || DayOf(clock.now) != day_) return nanoseconds(0);
  if (clock.frozen) return std::nullopt;
  const nanoseconds left = std::chrono::floor<days>(clock.now) + days(1) - clock.now;
  // Rounded up, so that the midnight has passed then. The quotient is below 1,000 days.
  return nanoseconds(std::llround(static_cast<double>(left.count()) / clock.rate) + 1);
}

}  // namespace penstock::emulator::server
