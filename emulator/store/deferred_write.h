// A write of the store's as one that the queue runs while nobody waits.
#ifndef PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_
#define PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_

#include <memory>
#include <utility>

#include "emulator/store/later.h"
#include "emulator/store/write_queue.h"

namespace penstock::emulator::store {

// `Work` is WriteQueue::Work with a method Result<T> TakeOutcome(), for after its commit.
template <class Work, class T>
class DeferredWrite final : public WriteQueue::Deferred {
 public:
  template <class... Arguments>
  explicit DeferredWrite(std::unique_ptr<Completion<T>> completion, Arguments&&... arguments)
      : completion_(std::move(completion)), work_(std::forward<Arguments>(arguments)...) {}

  Result<void> Write(WriteTransaction& transaction) override { return work_(transaction); }

  void Done(Result<void> result) noexcept override {
    if (result.ok()) {
      completion_->Complete(work_.TakeOutcome());
    } else {
      completion_->Complete(std::move(result).error());
    }
  }

 private:
  const std::unique_ptr<Completion<T>> completion_;
  Work work_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_
