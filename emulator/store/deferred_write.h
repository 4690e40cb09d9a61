// A write of the store's as one that the queue runs while nobody waits.
#ifndef PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_
#define PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_

#include <functional>
#include <memory>
#include <utility>

#include "emulator/store/later.h"
#include "emulator/store/write_queue.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// `Work` is WriteQueue::Work with a method Result<T> TakeOutcome(), for after its commit, and a
// constant kPurpose.
template <class Work, class T>
class DeferredWrite final : public WriteQueue::Deferred {
 public:
  template <class... Arguments>
  explicit DeferredWrite(std::unique_ptr<Completion<T>> completion, Arguments&&... arguments)
      : completion_(std::move(completion)), work_(std::forward<Arguments>(arguments)...) {}

  WriteQueue::Purpose purpose() const override { return Work::kPurpose; }
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

// Makes a Work of `arguments` and runs it; returns when it is committed or has failed.
template <class Work, class... Arguments>
decltype(std::declval<Work&>().TakeOutcome()) WriteNow(WriteQueue& queue,
                                                       Arguments&&... arguments) {
  Work work(std::forward<Arguments>(arguments)...);
  PENSTOCK_TRY(queue.Run(std::ref(work), WriteQueue::Batching::kAllowed, Work::kPurpose));
  return work.TakeOutcome();
}

// The same, but returns at once.
template <class Work, class T, class... Arguments>
void WriteDeferred(WriteQueue& queue, Async<T> later, Arguments&&... arguments) {
  queue.Submit(std::make_unique<DeferredWrite<Work, T>>(std::move(later.completion),
                                                        std::forward<Arguments>(arguments)...),
               later.executor);
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_DEFERRED_WRITE_H_
