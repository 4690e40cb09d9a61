// Waits for one asynchronous result on a plain thread; the wait can be interrupted.
#ifndef PENSTOCK_WAITER_H_
#define PENSTOCK_WAITER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock {

// One slot that a callback fills once and the waiting thread empties once.
//
// Thread safety: the callback may run on any thread; Wait on one.
template <class T>
class Waiter {
 public:
  // Returns the callback to pass on. It keeps the slot alive.
  std::function<void(Result<T>)> Done() const {
    return [slot = slot_](Result<T> result) {
      const MutexLock lock(slot->mutex);
      slot->result.emplace(std::move(result));
      slot->ready.NotifyAll();
    };
  }

  // Blocks until the callback has run. `interrupt` is polled about every 100 ms. When it returns
  // true, Wait requests `stop` once and still waits for the result, normally kCancelled.
  Result<T> Wait(const std::function<bool()>& interrupt, std::stop_source stop) {
    bool stopping = false;
    for (;;) {
      {
        const MutexLock lock(slot_->mutex);
        if (!slot_->result.has_value()) {
          slot_->ready.WaitUntil(slot_->mutex, std::chrono::steady_clock::now() + kPoll);
        }
        if (slot_->result.has_value()) return std::move(*slot_->result);
      }
      if (!stopping && interrupt && interrupt()) {
        stopping = true;
        stop.request_stop();
      }
    }
  }

 private:
  static constexpr std::chrono::milliseconds kPoll{100};
  struct Slot {
    Mutex mutex;
    CondVar ready;
    std::optional<Result<T>> result PENSTOCK_GUARDED_BY(mutex);
  };
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

}  // namespace penstock

#endif  // PENSTOCK_WAITER_H_
