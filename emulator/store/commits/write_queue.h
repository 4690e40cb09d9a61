// Group commit: writes that arrive while another is committing share the next transaction.
//
// There is one writer at a time. The first waiting caller becomes the writer, runs the work of all
// waiting callers in one transaction and wakes them with their results. A lone caller therefore
// needs no thread switch, and no thread is woken before its result is ready. If no caller blocks,
// the writer is a task on the executor of the first write; writes that arrive before the task runs
// join its transaction.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_WRITE_QUEUE_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_WRITE_QUEUE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/store/commits/later.h"
#include "emulator/store/commits/storage_guard.h"
#include "emulator/store/sqlite/connection_pool.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// When an effect of a write runs. Effects always run on the writer's thread.
enum class CommitPhase {
  kBefore,     // all work is done and COMMIT follows; an exception undoes the transaction
  kCommitted,  // readers of the database see the change; the caller does not have its result yet
  kUndone,     // the transaction failed, possibly before kBefore
};

// The connection and the commit effects of one unit of work.
class WriteTransaction {
 public:
  explicit WriteTransaction(Connection& connection) : connection_(connection) {
    effects_.reserve(kUsualEffects);
  }
  Connection& connection() { return connection_; }
  // Effects run in the order of the writes. If the work itself fails, they are dropped without a
  // call.
  using Effect = std::function<void(CommitPhase)>;
  void AroundCommit(Effect effect) { effects_.push_back(std::move(effect)); }
  // Runs `effect` in phase kCommitted only.
  template <class Run>
  void AfterCommit(Run effect) {
    AroundCommit([effect = std::move(effect)](CommitPhase phase) {
      if (phase == CommitPhase::kCommitted) effect();
    });
  }

 private:
  friend class WriteQueue;
  // A put usually adds one blob, removes one and publishes the record.
  static constexpr std::size_t kUsualEffects = 3;
  Connection& connection_;
  std::vector<Effect> effects_;
};

// Thread safety: any thread.
class WriteQueue {
 public:
  // `pool` provides the connection for writes. `guard` admits and confirms writes; null: all are
  // admitted. Both must outlive the queue.
  explicit WriteQueue(ConnectionPool& pool, StorageGuard* guard = nullptr)
      : pool_(pool), guard_(guard), commit_(*this) {}

  enum class Batching { kAllowed, kAlone };  // kAlone: no other work in the same transaction
  // kRemove: the work only removes, so it is admitted even when the disk is full.
  enum class Purpose { kStore, kRemove };
  // Runs `work` inside a transaction and returns when it is committed, as durable as the connection
  // is configured, or undone. An Error from `work` undoes only this work. `work` may run again
  // after other work failed, so it must not consume its captures. It may run on another thread
  // while the caller waits. If it throws, it fails with CurrentExceptionError.
  using Work = std::function<Result<void>(WriteTransaction&)>;
  Result<void> Run(const Work& work, Batching batching = Batching::kAllowed,
                   Purpose purpose = Purpose::kStore);

  // A write for which no thread blocks.
  class Deferred {
   public:
    virtual ~Deferred() = default;
    virtual Purpose purpose() const { return Purpose::kStore; }
    // See Work.
    virtual Result<void> Write(WriteTransaction& transaction) = 0;
    // Called once, last, with the result as Run would return it. Must not block. The queue may
    // already be destroyed.
    virtual void Done(Result<void> result) noexcept = 0;
  };
  // As Run with Batching::kAllowed, but returns at once. A caller that relies on Done must keep the
  // queue alive until then.
  void Submit(std::unique_ptr<Deferred> write, Executor& executor) noexcept;

 private:
  // Larger batches do not lower the cost per row.
  static constexpr std::size_t kLargestBatch = 64;

  enum class State { kWaiting, kWriter, kDone };
  // Blocks the thread of a Run until its state changes. Held by shared_ptr, because the notifier
  // signals after it has released the lock, when the waiting thread may already have returned. A
  // signal under the lock would wake the thread only to block on the lock.
  class Waiter {
   public:
    void Prepare();
    void Notify(State state);
    State Await();  // returns the first state set since Prepare

   private:
    Mutex mutex_;
    State state_ PENSTOCK_GUARDED_BY(mutex_) = State::kWaiting;
    CondVar changed_;
  };
  // One queued write. A ticket of Run is on its caller's stack and must not be accessed after kDone
  // is signalled. A ticket of Submit is owned by the queue.
  struct Ticket {
    const Work* work = nullptr;
    Batching batching = Batching::kAllowed;
    Purpose purpose = Purpose::kStore;
    std::shared_ptr<Waiter> waiter;
    std::unique_ptr<Deferred> deferred;  // null: a ticket of Run
    Executor* executor = nullptr;
    Result<void> result;
    std::vector<WriteTransaction::Effect> effects;

    Result<void> Perform(WriteTransaction& transaction) noexcept;
  };
  // Has a fixed size because nothing between joining the queue and leaving it may throw.
  struct Batch {
    std::array<Ticket*, kLargestBatch> tickets{};
    std::size_t size = 0;

    auto begin() const { return tickets.begin(); }
    auto end() const { return tickets.begin() + static_cast<std::ptrdiff_t>(size); }
  };
  class Commit final : public Task {
   public:
    explicit Commit(WriteQueue& queue) : queue_(queue) {}
    void Run() noexcept override { queue_.WriteBatch(Executor::Caller::kReturns, nullptr); }

   private:
    WriteQueue& queue_;
  };

  // The waiter of the calling thread.
  static const std::shared_ptr<Waiter>& ThreadWaiter();
  // Runs one batch, from taking it off the queue to reporting all results. `own`: the ticket of the
  // calling thread, or null.
  void WriteBatch(Executor::Caller caller, const Ticket* own) noexcept;
  void TakeBatch(Batch& batch);
  // Sets the result of every ticket, even if an exception is thrown, because the owners wait for
  // it.
  void ProcessBatch(const Batch& batch) noexcept;
  // Makes the first waiting ticket the next writer, if there is one.
  void HandOver(const Batch& batch, Executor::Caller caller) noexcept;
  void Execute(Connection& connection, const Batch& batch);
  bool TryAsOneTransaction(Connection& connection, const Batch& batch);
  // Runs the ticket if the guard admits it. If a removal fails because the disk is full and the
  // guard makes room, runs it once more.
  void RunAdmitted(Connection& connection, Ticket& ticket);
  void RunAlone(Connection& connection, Ticket& ticket);
  bool Admits(const Batch& batch);
  // Runs COMMIT between the phases of the batch's effects, then asks the guard to confirm. On an
  // Error nothing is committed and the transaction has ended.
  Result<void> CommitWithEffects(Connection& connection, const Batch& batch) noexcept;

  ConnectionPool& pool_;
  StorageGuard* const guard_;
  Commit commit_;  // submitted by the caller that sets has_writer_ for a deferred write
  Mutex mutex_;
  std::deque<Ticket*> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  bool has_writer_ PENSTOCK_GUARDED_BY(mutex_) = false;
  // Whether other writes waited during the previous batch.
  bool had_concurrent_writes_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_WRITE_QUEUE_H_
