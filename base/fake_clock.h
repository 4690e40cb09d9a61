// A clock that moves only when a test advances it. For tests of any module; never linked into a
// product.
#ifndef PENSTOCK_BASE_FAKE_CLOCK_H_
#define PENSTOCK_BASE_FAKE_CLOCK_H_

#include <chrono>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock {

// Starts at 2013-05-24T00:00:00Z (the date of the published SigV4 examples) and at monotonic 1000
// s.
//
// Thread safety: any thread may read and move it.
// Thread safety: any thread may read and move it.
class FakeClock final : public Clock {
 public:
  FakeClock() = default;
  explicit FakeClock(WallTime now) : now_(now) {}

  WallTime Now() const override {
    const MutexLock lock(mutex_);
    return now_;
  }

  MonotonicTime Monotonic() const override {
    const MutexLock lock(mutex_);
    return monotonic_;
  }

  // Moves both clocks by the same amount.
  void Advance(std::chrono::nanoseconds duration) {
    const MutexLock lock(mutex_);
    now_ += std::chrono::duration_cast<WallTime::duration>(duration);
    monotonic_ += duration;
  }

  // Sets the wall clock only, as an administrator or NTP would. Deadlines are unaffected.
  void SetNow(WallTime now) {
    const MutexLock lock(mutex_);
    now_ = now;
  }

  void SetMonotonic(MonotonicTime monotonic) {
    const MutexLock lock(mutex_);
    monotonic_ = monotonic;
  }

 private:
  mutable Mutex mutex_;
  WallTime now_ PENSTOCK_GUARDED_BY(mutex_) = WallTime(std::chrono::seconds(1369353600));
  MonotonicTime monotonic_ PENSTOCK_GUARDED_BY(mutex_) = MonotonicTime(std::chrono::seconds(1000));
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_FAKE_CLOCK_H_
