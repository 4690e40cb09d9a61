// Asynchronous writes: the executor that runs the commit and the completion that receives the
// result.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_

#include <memory>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// A unit of work for an Executor. The owner keeps it alive until Run has begun; from then on it
// may be submitted again.
class Task {
 public:
  virtual ~Task() = default;
  virtual void Run() noexcept = 0;

 private:
  friend class TaskList;
  Task* next_ = nullptr;
};

// Tasks in FIFO order. Not thread safe.
class TaskList {
 public:
  bool empty() const { return first_ == nullptr; }

  void Push(Task& task) noexcept {
    task.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &task;
    last_ = &task;
  }
  // Null: the list is empty.
  Task* Pop() noexcept {
    Task* const task = first_;
    if (task != nullptr) first_ = task->next_;
    return task;
  }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

// Runs tasks on threads that also do other work. Thread safety: any thread.
class Executor {
 public:
  virtual ~Executor() = default;
  // What the calling thread does next. kReturns: if it is a thread of the executor, it returns
  // there soon and can run the task itself. kGoesOn: it may stay busy, so another thread is woken.
  enum class Caller { kReturns, kGoesOn };
  // Runs `task` once, soon, on a thread of the executor.
  virtual void Execute(Task& task, Caller caller) noexcept = 0;
};

// Receives the result of a write. If it is destroyed without a call of Complete, the write failed
// before it began because memory ran out.
template <class T>
class Completion {
 public:
  virtual ~Completion() = default;
  // Called at most once, on any thread, possibly before the call that began the write has returned.
  // Must not block.
  virtual void Complete(Result<T> result) noexcept = 0;
};

// `executor` must outlive the write.
template <class T>
struct Async {
  Executor& executor;
  std::unique_ptr<Completion<T>> completion;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_
