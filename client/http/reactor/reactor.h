// One I/O thread with its connections, its request queue and its timers.
#ifndef PENSTOCK_CLIENT_HTTP_REACTOR_REACTOR_H_
#define PENSTOCK_CLIENT_HTTP_REACTOR_REACTOR_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "client/http/exchange/transfer.h"
#include "client/http/reactor/exchange_runner.h"
#include "client/http/reactor/http_transport.h"
#include "penstock/base/mutex.h"

namespace penstock::http {

// The thread starts with the first Submit or RunAt. It owns everything below `thread_`; other
// threads only fill the inbox. shared_ptr: the thread keeps its reactor alive if one of its own
// completions calls Stop.
//
// Thread safety: public members from any thread. After a fork, the child must not use an inherited
// reactor at all.
class Reactor : public std::enable_shared_from_this<Reactor> {
 public:
  // `max_transfers` limits the transfers in progress, and is the size of the connection pool.
  Reactor(const HttpTransportOptions& options, std::size_t max_transfers);
  ~Reactor();

  // Sets `transfer->on_stop` and queues the transfer; its completion then runs exactly once. If it
  // returns an error or throws, the transfer is unchanged and not accepted. Returns kCancelled once
  // stopping, and kResourceExhausted if the thread cannot start.
  [[nodiscard]] Result<void> TrySubmit(const TransferPtr& transfer);
  // Same, but completes the transfer with the error, on the calling thread.
  void Submit(const TransferPtr& transfer);
  // Completes a transfer that no reactor accepted.
  static void Complete(Transfer& transfer, Result<Outcome> outcome);
  // As Transport::RunAt. `task` is moved from only on success.
  [[nodiscard]] Result<void> RunAt(MonotonicTime when, std::function<void()>&& task);

  // Returns the number of requests submitted and not completed.
  std::size_t load() const { return load_.load(std::memory_order_relaxed); }

  // Completes requests in flight with kCancelled, runs waiting tasks, and ends the thread. Waits
  // for the thread, unless called on it.
  void Stop();

  // Same for process exit. Waits at most `limit`, because a completion may hang in a program that
  // is partially destroyed.
  void StopForExit(std::chrono::milliseconds limit);

 private:
  struct Inbox {
    std::vector<TransferPtr> submitted;
    std::vector<TransferPtr> cancelled;
    std::vector<std::pair<MonotonicTime, std::function<void()>>> tasks;
    // There were more cancellations than `cancelled` had memory for: all transfers must be checked.
    bool more_cancelled = false;

    bool empty() const {
      return submitted.empty() && cancelled.empty() && tasks.empty() && !more_cancelled;
    }
  };
  enum class Command { kRun, kStop };

  Result<void> Enqueue(const TransferPtr& transfer);
  Result<void> StartThread() PENSTOCK_REQUIRES(mutex_);
  void Wake() PENSTOCK_REQUIRES(mutex_);
  void Cancel(const TransferPtr& transfer) noexcept;

  // Called on the I/O thread.
  void Run();
  void RunOnce();
  Command TakeInbox();
  template <class Work>
  void Protect(const TransferPtr& transfer, Work work);
  void Admit(const TransferPtr& transfer);
  bool CanAdmit() const;
  void AdmitWaiting();
  void Activate(const TransferPtr& transfer);
  void RemoveActive(Transfer& transfer);
  static MonotonicTime DueTime(const Transfer& transfer);
  void Arm(const TransferPtr& transfer);
  void RunDueTimers();
  void CheckTimers(MonotonicTime now);
  void CheckTimer(const TransferPtr& transfer, MonotonicTime now);
  void Finish(const TransferPtr& transfer, Result<Outcome> outcome);
  void CancelStopped();
  int PollTimeoutMs() const;
  void Poll();
  void ShutDown();

  const HttpTransportOptions options_;
  const std::size_t max_transfers_;
  const unsigned fork_generation_;
  std::atomic<std::size_t> load_{0};

  Mutex mutex_;
  CondVar closed_changed_;
  Inbox inbox_ PENSTOCK_GUARDED_BY(mutex_);
  Command command_ PENSTOCK_GUARDED_BY(mutex_) = Command::kRun;
  bool started_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool closed_ PENSTOCK_GUARDED_BY(mutex_) = false;    // the thread accepts nothing any more
  bool sleeping_ PENSTOCK_GUARDED_BY(mutex_) = false;  // in Poll, not yet woken
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);

  // Used by the I/O thread only.
  Inbox taken_;
  std::unique_ptr<ExchangeRunner> runner_;  // created under mutex_ before the thread starts
  std::vector<TransferPtr> active_;         // keeps them alive while the runner has them
  std::deque<TransferPtr> waiting_;
  MonotonicTime next_check_ = MonotonicTime::max();  // the earliest deadline or idle timeout
  std::multimap<MonotonicTime, std::function<void()>> tasks_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REACTOR_REACTOR_H_
