// The clock of one namespace: the machine's, until somebody sets, advances or freezes it.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACE_CLOCK_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Wall time drives dates, signatures and expiry; deadlines stay on the machine's monotonic clock.
//
// Thread safety: safe from any thread; reading takes no lock.
class NamespaceClock final : public Clock {
 public:
  explicit NamespaceClock(const Clock& machine) : machine_(machine) {}

  WallTime Now() const override;
  MonotonicTime Monotonic() const override { return machine_.Monotonic(); }

  // Applies the whole change or none of it. kInvalidArgument when the time would leave the years 1970 to 2261.
  Result<void> Change(const ClockChange& change);
  // Back to the machine's time, running.
  void Restore();
  ClockState State() const;

 private:
  static constexpr std::int64_t kRunning = INT64_MIN;

  std::int64_t MachineNanoseconds() const;
  std::int64_t NowNanoseconds() const;

  const Clock& machine_;
  mutable Mutex change_mutex_;               // one change at a time
  std::atomic<std::int64_t> offset_{0};      // nanoseconds ahead of the machine, while running
  std::atomic<std::int64_t> frozen_{kRunning};  // nanoseconds since 1970, while frozen
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACE_CLOCK_H_
