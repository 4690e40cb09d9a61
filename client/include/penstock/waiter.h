// Waiting for one asynchronous result on a plain thread, with a way to give up.
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

// One slot, filled once by a callback and emptied once by the thread that waits.
//
// Thread safety: Set from any thread, Wait from one.
template <class T>
class Waiter {
 public:
  // The callback to hand out. Keeps the slot alive on its own.
  std::function<void(Result<T>)> Done() const {
    return [slot = slot_](Result<T> result) {
      const MutexLock lock(slot->mutex);
      slot->result.emplace(std::move(result));
      slot->ready.NotifyAll();
    };
  }

  // Blocks until the callback has run. `interrupt` is polled about every 100 ms; when it says true,
  // `stop` is requested once and the result, normally kCancelled, still awaited.
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
