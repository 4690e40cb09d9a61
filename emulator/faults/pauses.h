// Waits that a fault puts before an operation, on the thread that serves the request.
#ifndef PENSTOCK_EMULATOR_FAULTS_PAUSES_H_
#define PENSTOCK_EMULATOR_FAULTS_PAUSES_H_

#include <chrono>

#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Bounded in number, so that faults never hold every serving thread, and ended together when the server stops.
//
// Thread safety: safe from any thread.
class Pauses {
 public:
  static constexpr int kMost = 64;  // at a time

  // The right to wait. Destroyed, it is free for another one.
  class Turn {
   public:
    explicit Turn(Pauses& pauses) : pauses_(pauses), granted_(pauses.Enter()) {}
    ~Turn() {
      if (granted_) pauses_.Leave();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False: as many wait already, or End was called. Then Wait returns at once.
    bool granted() const { return granted_; }
    // Until the time is over, or End is called.
    void Wait(std::chrono::nanoseconds time) {
      if (granted_) pauses_.WaitFor(time);
    }

   private:
    Pauses& pauses_;
    const bool granted_;
  };

  // Nobody waits any more, now and later.
  void End();
  bool ended();

 private:
  bool Enter();
  void Leave();
  void WaitFor(std::chrono::nanoseconds time);

  Mutex mutex_;
  CondVar end_;
  int waiting_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool ended_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PAUSES_H_
