#include "emulator/http/connection/completion_queue.h"

#include <thread>

#include "emulator/http/connection/connection.h"

namespace penstock::emulator::http {
namespace {

// The queue whose task this thread is running.
thread_local const CompletionQueue* running_queue = nullptr;

// Counts threads inside Execute and AddResponse, so that shutdown can wait for them.
class CallerCount {
 public:
  explicit CallerCount(std::atomic<int>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~CallerCount() { count_.fetch_sub(1, std::memory_order_release); }
  CallerCount(const CallerCount&) = delete;
  CallerCount& operator=(const CallerCount&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

void CompletionQueue::Execute(penstock::Task& task, Caller caller) noexcept {
  const CallerCount counted(calling_);
  {
    const MutexLock lock(mutex_);
    task_list_.Push(task);
    tasks_.fetch_add(1);
  }
  if (caller == Caller::kGoesOn) wake_();
}

void CompletionQueue::AddResponse(WireConnection& connection) noexcept {
  const CallerCount counted(calling_);
  {
    const MutexLock lock(mutex_);
    connection.next_response_ = nullptr;
    (first_response_ == nullptr ? first_response_ : last_response_->next_response_) = &connection;
    last_response_ = &connection;
    responses_.fetch_add(1);
  }
  if (running_queue != this) wake_();
}

void CompletionQueue::AwaitCallers() const {
  while (calling_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

WireConnection* CompletionQueue::TakeResponse() {
  if (responses_.load() == 0) return nullptr;
  const MutexLock lock(mutex_);
  WireConnection* const connection = first_response_;
  if (connection == nullptr) return nullptr;
  first_response_ = connection->next_response_;
  responses_.fetch_sub(1);
  taken_.fetch_add(1, std::memory_order_relaxed);
  return connection;
}

void CompletionQueue::RunTask() {
  penstock::Task* task = nullptr;
  {
    const MutexLock lock(mutex_);
    task = task_list_.Pop();
    if (task == nullptr) return;
    tasks_.fetch_sub(1);
    taken_.fetch_add(1, std::memory_order_relaxed);
  }
  running_queue = this;
  task->Run();
  running_queue = nullptr;
}

}  // namespace penstock::emulator::http
