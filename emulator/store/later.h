// Writes that nobody waits for: who runs their commit, and who is told of it.
#ifndef PENSTOCK_EMULATOR_STORE_LATER_H_
#define PENSTOCK_EMULATOR_STORE_LATER_H_

#include <memory>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// A piece of work for an Executor. Its owner keeps it until Run has begun, and may post it again from then on.
class Errand {
 public:
  virtual ~Errand() = default;
  virtual void Run() noexcept = 0;

 private:
  friend class ErrandList;
  Errand* next_ = nullptr;
};

// Errands in the order of their coming. Not thread safe.
class ErrandList {
 public:
  bool empty() const { return first_ == nullptr; }

  void Push(Errand& errand) noexcept {
    errand.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &errand;
    last_ = &errand;
  }
  // Null: there is none.
  Errand* Pop() noexcept {
    Errand* const errand = first_;
    if (errand != nullptr) first_ = errand->next_;
    return errand;
  }

 private:
  Errand* first_ = nullptr;
  Errand* last_ = nullptr;
};

// Somebody's threads, which find time for errands between other things. Thread safety: any thread.
class Executor {
 public:
  virtual ~Executor() = default;
  // What the calling thread does next. kReturns: it goes back to its executor, if it is one of its threads, and can run
  // the errand itself. kGoesOn: it may be busy for long; another one is called.
  enum class Caller { kReturns, kGoesOn };
  // Runs `errand` once, soon, on a thread of the executor's.
  virtual void Execute(Errand& errand, Caller caller) noexcept = 0;
};

// Who is told what became of a write. Destroyed without Complete: the write failed before it began, for want of memory.
template <class T>
class Completion {
 public:
  virtual ~Completion() = default;
  // Called once, on any thread, also before the call that began the write has returned. Must not wait for anything.
  virtual void Complete(Result<T> result) noexcept = 0;
};

// `executor` outlives the write.
template <class T>
struct Later {
  Executor& executor;
  std::unique_ptr<Completion<T>> completion;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_LATER_H_
