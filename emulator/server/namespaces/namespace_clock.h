// The clock of one namespace: the machine's clock until it is set, advanced, frozen or accelerated.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_CLOCK_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Its wall time determines dates, signatures, expiry and limits. Deadlines use the machine's
// monotonic clock.
//
// Thread safety: any thread; reads take no lock. A change of the rate causes no jump of the time
// and never moves it backwards. time jump or run backwards.
class NamespaceClock final : public Clock {
 public:
  explicit NamespaceClock(const Clock& machine) : machine_(machine) {}

  WallTime Now() const override;
  MonotonicTime Monotonic() const override { return machine_.Monotonic(); }

  // Applies the whole change or none of it. Returns kInvalidArgument when the time would leave the
  // years 1970 to 2261, or for a rate outside 0.001 to 1000. The clock stops at the end of 2261.
  Result<void> Change(const ClockChange& change);
  // Restores the machine's time, running.
  void Restore();
  ClockState State() const;

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  // The clock showed `shown` when the machine's clock showed `machine`, and runs from there.
  // Nanoseconds since 1970.
  struct Course {
    std::int64_t machine = 0;
    std::int64_t shown = 0;
    std::int64_t rate = kMillion;  // millionths
    bool frozen = false;
    std::int64_t At(std::int64_t machine_now) const;
  };
  struct Reading {
    Course course;
    std::int64_t machine = 0;
    std::int64_t shown = 0;
  };
  std::int64_t MachineNanoseconds() const;
  Reading Read() const;
  static Result<Course> Changed(const Course& course, const ClockChange& change,
                                std::int64_t machine_now);
  void Follow(const Course& course) PENSTOCK_REQUIRES(change_mutex_);

  const Clock& machine_;
  Mutex change_mutex_;  // one change at a time
  // The course as a sequence lock: version_ is odd while the members are written.
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::int64_t> course_machine_{0};
  std::atomic<std::int64_t> course_shown_{0};
  std::atomic<std::int64_t> course_rate_{kMillion};
  std::atomic<bool> course_frozen_{false};
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_CLOCK_H_
