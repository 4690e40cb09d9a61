// Pauses that a fault adds before an operation, on the thread that serves the request.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_PAUSES_H_
#define PENSTOCK_EMULATOR_TRAFFIC_PAUSES_H_

#include <chrono>

#include "emulator/message/exchange.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::traffic {

// A pause occupies its thread; the server starts more threads for other requests (message::Wire).
// The number of pauses is bounded. All pauses end when the server stops. A pause ends within
// message::kPeerCheckInterval after its client has closed the connection.
//
// Thread safety: safe from any thread.
class Pauses {
 public:
  static constexpr int kMax = 1'024;  // concurrent pauses

  // A permit for one pause, held for the lifetime of this object. At most kMax are granted.
  class Permit {
   public:
    // `wire`: of the request; must outlive this object. Null: the client counts as connected.
    Permit(Pauses& pauses, message::Wire* wire)
        : pauses_(pauses),
          wire_(wire),
          granted_(pauses.Enter()),
          next_check_(std::chrono::steady_clock::now() + message::kPeerCheckInterval) {}
    ~Permit() {
      if (granted_) pauses_.Leave();
    }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;

    // False if kMax permits are already held or End was called. Wait then returns at once.
    bool granted() const { return granted_; }
    // Waits until `time` has passed, End is called, or the client has closed the connection or its
    // sending side. Returns false in the last case.
    bool Wait(std::chrono::nanoseconds time);

   private:
    bool WaitUntil(MonotonicTime until);

    Pauses& pauses_;
    message::Wire* const wire_;
    const bool granted_;
    MonotonicTime next_check_;
  };

  // Ends all current and future waits.
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

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_PAUSES_H_
