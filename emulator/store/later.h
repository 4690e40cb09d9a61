// Writes that nobody waits for: who runs their commit, and who is told of it.
#ifndef PENSTOCK_EMULATOR_STORE_LATER_H_
#define PENSTOCK_EMULATOR_STORE_LATER_H_

#include <memory>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// A piece of work for an Executor. Its owner keeps it until Run has begun, and may post it again
// from then on.
class Task {
 public:
  virtual ~Task() = default;
  virtual void Run() noexcept = 0;

 private:
  friend class TaskList;
  Task* next_ = nullptr;
};

// Tasks in the order of their coming. Not thread safe.
class TaskList {
 public:
  bool empty() const { return first_ == nullptr; }

  void Push(Task& task) noexcept {
    task.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &task;
    last_ = &task;
  }
  // Null: there is none.
  Task* Pop() noexcept {
    Task* const task = first_;
    if (task != nullptr) first_ = task->next_;
    return task;
  }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

// Somebody's threads, which find time for tasks between other things. Thread safety: any thread.
class Executor {
 public:
  virtual ~Executor() = default;
  // What the calling thread does next. kReturns: it goes back to its executor, if it is one of its
  // threads, and can run the task itself. kGoesOn: it may be busy for long; another one is called.
  enum class Caller { kReturns, kGoesOn };
  // Runs `task` once, soon, on a thread of the executor's.
  virtual void Execute(Task& task, Caller caller) noexcept = 0;
};

// Who is told what became of a write. Destroyed without Complete: the write failed before it began,
// for want of memory.
template <class T>
class Completion {
 public:
  virtual ~Completion() = default;
  // Called once, on any thread, also before the call that began the write has returned. Must not
  // wait for anything.
  virtual void Complete(Result<T> result) noexcept = 0;
};

// `executor` outlives the write.
template <class T>
struct Async {
  Executor& executor;
  std::unique_ptr<Completion<T>> completion;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_LATER_H_
