// Waits that a fault puts before an operation, on the thread that serves the request.
#ifndef PENSTOCK_EMULATOR_FAULTS_PAUSES_H_
#define PENSTOCK_EMULATOR_FAULTS_PAUSES_H_

#include <chrono>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/peer_check.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// A wait occupies its thread: the server starts other threads for other requests (s3::Wire). The
// number of waits is bounded. All of them end when the server stops. One ends within
// s3::kPeerCheckInterval once its client has closed the connection.
//
// Thread safety: safe from any thread.
class Pauses {
 public:
  static constexpr int kMost = 1'024;  // at a time

  // The right to wait, which is one of kMost as long as this object lives.
  class Turn {
   public:
    // `wire`: the request's, outlives this; may be null: then the client counts as connected.
    Turn(Pauses& pauses, s3::Wire* wire)
        : pauses_(pauses),
          wire_(wire),
          granted_(pauses.Enter()),
          look_at_(std::chrono::steady_clock::now() + s3::kPeerCheckInterval) {}
    ~Turn() {
      if (granted_) pauses_.Leave();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False: kMost turns exist already, or End was called. Then Wait returns at once.
    bool granted() const { return granted_; }
    // Waits until the time is over, End is called, or the client has closed the connection or its
    // sending side. Returns false in the last case.
    bool Wait(std::chrono::nanoseconds time);

   private:
    bool WaitUntil(MonotonicTime until);

    Pauses& pauses_;
    s3::Wire* const wire_;
    const bool granted_;
    MonotonicTime look_at_;
  };

  // Nobody waits any more, now and later.
  void End();
  bool ended();

 private:
  bool Enter();
  void Leave();
  // Returns whether End was called.
  bool WaitUntil(MonotonicTime until);

  Mutex mutex_;
  CondVar end_;
  int waiting_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool ended_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PAUSES_H_
