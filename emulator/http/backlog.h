// What serving threads have to do beside ready connections: answers that were given later, and the errands of others.
#ifndef PENSTOCK_EMULATOR_HTTP_BACKLOG_H_
#define PENSTOCK_EMULATOR_HTTP_BACKLOG_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {

class WireConnection;

// Thread safety: any thread.
class Backlog final : public store::Executor {
 public:
  // `call` is called when something came that the calling thread will not see to itself. It must not throw.
  explicit Backlog(std::function<void()> call) : call_(std::move(call)) {}

  void Execute(store::Errand& errand, Caller caller) noexcept override;
  // The connection's answer can be sent; it lives until somebody has taken it.
  void AddAnswer(WireConnection& connection) noexcept;

  bool empty() const { return answers_.load() == 0 && errands_.load() == 0; }
  bool has_errands() const { return errands_.load() != 0; }
  // Returns once no thread is in Execute or AddAnswer. When nothing can come any more: what came last may be done before the
  // thread that brought it has left.
  void AwaitCallers() const;
  // How much was taken so far.
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Null: there is none.
  WireConnection* TakeAnswer();
  // Runs the first errand, if there is one. The thread sees to what comes of it: nobody is called.
  void RunErrand();

 private:
  const std::function<void()> call_;
  std::atomic<std::uint32_t> answers_{0};  // how many there are in the lists, also for who does not hold the lock
  std::atomic<std::uint32_t> errands_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<int> calling_{0};  // threads in Execute or AddAnswer
  Mutex mutex_;
  WireConnection* first_answer_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  WireConnection* last_answer_ PENSTOCK_GUARDED_BY(mutex_) = nullptr;
  store::ErrandList errand_list_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_BACKLOG_H_
