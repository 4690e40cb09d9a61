// When a namespace's next lifecycle run in the background is due.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_LIFECYCLE_SCHEDULE_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_LIFECYCLE_SCHEDULE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "penstock/base/clock.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// A run is due at every midnight UTC of the namespace's clock, because all dates of lifecycle rules
// are midnights, and after Request.
//
// Thread safety: any thread.
class LifecycleSchedule {
 public:
  // The day of `now` may have been skipped or repeated, or actions became due while the store was
  // closed.
  void Request() { requested_ = true; }
  // A run begins that examines everything up to `now`.
  void Begin(WallTime now);
  // Time on the machine's clock until a run is due; zero: now; nullopt: not before the clock is
  // changed.
  std::optional<std::chrono::nanoseconds> UntilRun(const ClockState& clock) const;

 private:
  std::atomic<bool> requested_{true};
  std::atomic<std::int64_t> day_{-1};  // Of the latest run, in days since 1970.
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_LIFECYCLE_SCHEDULE_H_
