#include "emulator/http/completions.h"

#include <thread>

#include "emulator/http/connection/connection.h"

namespace penstock::emulator::http {
namespace {

// The completions whose task this thread is running.
thread_local const CompletionQueue* attended = nullptr;

// Counts a thread that is in the completions: what it brought may be done, and everybody else gone,
// before it leaves.
class Presence {
 public:
  explicit Presence(std::atomic<int>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Presence() { count_.fetch_sub(1, std::memory_order_release); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

void CompletionQueue::Execute(store::Task& task, Caller caller) noexcept {
  const Presence here(calling_);
  {
    const MutexLock lock(mutex_);
    task_list_.Push(task);
    tasks_.fetch_add(1);
  }
  if (caller == Caller::kGoesOn) call_();
}

void CompletionQueue::AddAnswer(WireConnection& connection) noexcept {
  const Presence here(calling_);
  {
    const MutexLock lock(mutex_);
    connection.next_answer_ = nullptr;
    (first_answer_ == nullptr ? first_answer_ : last_answer_->next_answer_) = &connection;
    last_answer_ = &connection;
    answers_.fetch_add(1);
  }
  if (attended != this) call_();
}

void CompletionQueue::AwaitCallers() const {
  while (calling_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

WireConnection* CompletionQueue::TakeAnswer() {
  if (answers_.load() == 0) return nullptr;
  const MutexLock lock(mutex_);
  WireConnection* const answer = first_answer_;
  if (answer == nullptr) return nullptr;
  first_answer_ = answer->next_answer_;
  answers_.fetch_sub(1);
  taken_.fetch_add(1, std::memory_order_relaxed);
  return answer;
}

void CompletionQueue::RunTask() {
  store::Task* task = nullptr;
  {
    const MutexLock lock(mutex_);
    task = task_list_.Pop();
    if (task == nullptr) return;
    tasks_.fetch_sub(1);
    taken_.fetch_add(1, std::memory_order_relaxed);
  }
  attended = this;
  task->Run();
  attended = nullptr;
}

}  // namespace penstock::emulator::http
