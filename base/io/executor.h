// Tasks, and the threads that run them.
#ifndef PENSTOCK_BASE_IO_EXECUTOR_H_
#define PENSTOCK_BASE_IO_EXECUTOR_H_

namespace penstock {

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

}  // namespace penstock

#endif  // PENSTOCK_BASE_IO_EXECUTOR_H_
