// What serving threads have to do beside ready connections: answers that were given later, and the
// tasks of others.
#ifndef PENSTOCK_EMULATOR_HTTP_COMPLETION_QUEUE_H_
#define PENSTOCK_EMULATOR_HTTP_COMPLETION_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {

class WireConnection;

// Thread safety: any thread.
class CompletionQueue final : public store::Executor {
 public:
  // `call` is called when something came that the calling thread will not see to itself. It must
  // not throw.
  explicit CompletionQueue(std::function<void()> call) : call_(std::move(call)) {}

  void Execute(store::Task& task, Caller caller) noexcept override;
  // The connection's answer can be sent; it lives until somebody has taken it.
  void AddAnswer(WireConnection& connection) noexcept;

  bool empty() const { return answers_.load() == 0 && tasks_.load() == 0; }
  bool has_tasks() const { return tasks_.load() != 0; }
  // Returns once no thread is in Execute or AddAnswer. When nothing can come any more: what came
  // last may be done before the thread that brought it has left.
  void AwaitCallers() const;
  // How much was taken so far.
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Null: there is none.
  WireConnection* TakeAnswer();
  // Runs the first task, if there is one. The thread sees to what comes of it: nobody is called.
  void RunTask();

 private:
  const std::function<void()> call_;
  // how many there are in the lists, also for who does not hold the lock
  std::atomic<std::uint32_t> answers_{0};
  std::atomic<std::uint32_t> tasks_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<int> calling_{0};  // threads in Execute or AddAnswer
  Mutex mutex_;
  WireConnection* first_answer_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  WireConnection* last_answer_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  store::TaskList task_list_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_COMPLETION_QUEUE_H_
