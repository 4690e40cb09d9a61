// Work for serving threads besides ready connections: asynchronously completed responses, and
// queued tasks.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_COMPLETION_QUEUE_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_COMPLETION_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "emulator/message/exchange.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {

class WireConnection;

// Thread safety: any thread.
class CompletionQueue final : public Executor {
 public:
  // `wake` wakes another thread. It runs when the calling thread will not process the new entry
  // itself. It must not throw.
  explicit CompletionQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Execute(penstock::Task& task, Caller caller) noexcept override;
  // Adds a connection whose response can be sent. The connection must live until it is taken.
  void AddResponse(WireConnection& connection) noexcept;

  bool empty() const { return responses_.load() == 0 && tasks_.load() == 0; }
  bool has_tasks() const { return tasks_.load() != 0; }
  // Returns once no thread is inside Execute or AddResponse. Call it when no new entries can
  // arrive: an entry may be processed before the thread that added it has returned.
  void AwaitCallers() const;
  // Number of entries taken so far.
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Returns null when there is none.
  WireConnection* TakeResponse();
  // Runs the first task, if there is one. Does not call `wake`: the thread itself processes the
  // completions that the task adds.
  void RunTask();

 private:
  const std::function<void()> wake_;
  // Sizes of the lists, readable without the lock.
  std::atomic<std::uint32_t> responses_{0};
  std::atomic<std::uint32_t> tasks_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<int> calling_{0};  // threads in Execute or AddResponse
  Mutex mutex_;
  WireConnection* first_response_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  WireConnection* last_response_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  TaskList task_list_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_COMPLETION_QUEUE_H_
