// Wakes the threads that wait for new events of any store of an emulator.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_CHANGE_SIGNAL_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_CHANGE_SIGNAL_H_

#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Thread safety: any thread.
class ChangeSignal {
 public:
  // Read before the search for what changed, and passed to Await if the search finds nothing.
  std::uint64_t count() const {
    const MutexLock lock(mutex_);
    return count_;
  }

  void Notify() {
    const MutexLock lock(mutex_);
    ++count_;
    changed_.NotifyAll();
  }

  // Returns when Notify was called since count() returned `seen`, or at `until`.
  void Await(std::uint64_t seen, MonotonicTime until) {
    const MutexLock lock(mutex_);
    while (count_ == seen && changed_.WaitUntil(mutex_, until)) continue;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t count_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_CHANGE_SIGNAL_H_
