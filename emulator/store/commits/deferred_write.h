// Adapts a write of the store to WriteQueue::Deferred, for callers that do not block.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_DEFERRED_WRITE_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_DEFERRED_WRITE_H_

#include <functional>
#include <memory>
#include <utility>

#include "emulator/store/commits/later.h"
#include "emulator/store/commits/write_queue.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// `Work` is callable as WriteQueue::Work and has a method Result<T> TakeOutcome(), called after the
// commit, and a constant kPurpose.
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

// Constructs a Work from `arguments`, runs it and returns when it has committed or failed.
template <class Work, class... Arguments>
decltype(std::declval<Work&>().TakeOutcome()) WriteNow(WriteQueue& queue,
                                                       Arguments&&... arguments) {
  Work work(std::forward<Arguments>(arguments)...);
  PENSTOCK_TRY(queue.Run(std::ref(work), WriteQueue::Batching::kAllowed, Work::kPurpose));
  return work.TakeOutcome();
}

// The same, but returns at once and reports the result through `later`.
template <class Work, class T, class... Arguments>
void WriteDeferred(WriteQueue& queue, Async<T> later, Arguments&&... arguments) {
  queue.Submit(std::make_unique<DeferredWrite<Work, T>>(std::move(later.completion),
                                                        std::forward<Arguments>(arguments)...),
               later.executor);
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_DEFERRED_WRITE_H_
