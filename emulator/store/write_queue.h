// Group commit: writes that arrive while another is committing share the next transaction.
//
// There is one writer at a time. Of the callers that wait, the first becomes the writer, runs
// everybody's work in one transaction and wakes the others with their results: a lone caller pays
// no change of thread, and nobody is woken before there is something for him to do. Where nobody
// waits, the writer is an task of the executor that came with the first write: by the time it runs,
// others have joined.
#ifndef PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
#define PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/store/later.h"
#include "emulator/store/sqlite/connection_pool.h"
#include "emulator/store/storage_guard.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// When an effect of a write runs, always on the writer's thread.
enum class CommitPhase {
  kBefore,     // all work is done and COMMIT follows. An exception undoes the transaction.
  kCommitted,  // readers of the database see the change; the caller does not have its result yet
  kUndone,     // the transaction failed. May come without kBefore.
};

// What one piece of work writes with.
class WriteTransaction {
 public:
  explicit WriteTransaction(Connection& connection) : connection_(connection) {
    effects_.reserve(kUsualEffects);
  }
  Connection& connection() { return connection_; }
  // Effects run in the order of the writes. They are dropped without a call when the work itself
  // fails.
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
  // of a put: one blob comes, one goes, the record is published
  static constexpr std::size_t kUsualEffects = 3;
  Connection& connection_;
  std::vector<Effect> effects_;
};

// Thread safety: any thread.
class WriteQueue {
 public:
  // `pool` lends the connection to write with. `guard` decides what is admitted and confirmed;
  // null: everything is. Both outlive the queue.
  explicit WriteQueue(ConnectionPool& pool, StorageGuard* guard = nullptr)
      : pool_(pool), guard_(guard), commit_(*this) {}

  enum class Batching { kAllowed, kAlone };  // kAlone: no other work in the same transaction
  // kRemove: only removes, so it is admitted when the disk is full
  enum class Purpose { kStore, kRemove };
  // Runs `work` inside a transaction and returns when it is committed (durable as the connection is
  // set) or undone. An Error of the work undoes this work only. It may be run again after a failure
  // of others, so it must not consume what it captured, and it may run on another thread while the
  // caller waits. Work that throws has failed with CurrentExceptionError.
  using Work = std::function<Result<void>(WriteTransaction&)>;
  Result<void> Run(const Work& work, Batching batching = Batching::kAllowed,
                   Purpose purpose = Purpose::kStore);

  // A write that nobody waits for.
  class Deferred {
   public:
    virtual ~Deferred() = default;
    virtual Purpose purpose() const { return Purpose::kStore; }
    // As Work.
    virtual Result<void> Write(WriteTransaction& transaction) = 0;
    // Called once, last: what became of it, as Run returns it. Must not wait for anything. The
    // queue may be gone by then.
    virtual void Done(Result<void> result) noexcept = 0;
  };
  // As Run with welcome batching, but returns at once. Whoever needs Done to come keeps the queue
  // until then.
  void Submit(std::unique_ptr<Deferred> write, Executor& executor) noexcept;

 private:
  static constexpr std::size_t kLargestBatch =
      64;  // beyond it a row costs the same (spec/performance.md §3f)

  enum class State { kWaiting, kWriter, kDone };
  // Where one thread waits for news. Shared, so that who brings the news may ring after the waiter
  // has left: ringing under the lock would wake it only to wait for the lock.
  class Waiter {
   public:
    void Prepare();
    void Ring(State news);
    State Await();  // the first news since Prepare

   private:
    Mutex mutex_;
    State state_ PENSTOCK_GUARDED_BY(mutex_) = State::kWaiting;
    CondVar rung_;
  };
  // What Run calls, one caller's: on its stack, so that whoever rings kDone must not touch it
  // afterwards. What Submit was given: owned by the queue.
  struct Ticket {
    const Work* work = nullptr;
    Batching batching = Batching::kAllowed;
    Purpose purpose = Purpose::kStore;
    std::shared_ptr<Waiter> doorbell;
    std::unique_ptr<Deferred> deferred;  // null: Run's
    Executor* executor = nullptr;
    Result<void> result;
    std::vector<WriteTransaction::Effect> effects;

    Result<void> Perform(WriteTransaction& transaction) noexcept;
  };
  // Of fixed size: nothing between joining the queue and leaving it may throw.
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

  // The calling thread's own.
  static const std::shared_ptr<Waiter>& OwnDoorbell();
  // The writer's part: one batch, from the queue to everybody's result. `own`: the ticket of the
  // calling thread, if any.
  void WriteBatch(Executor::Caller caller, const Ticket* own) noexcept;
  void TakeBatch(Batch& batch);
  // Gives every ticket of the batch a result, whatever is thrown: their owners wait for it.
  void Serve(const Batch& batch) noexcept;
  // The writer's part goes to the first who waits.
  void PassOn(const Batch& batch, Executor::Caller caller) noexcept;
  void Execute(Connection& connection, const Batch& batch);
  bool TryTogether(Connection& connection, const Batch& batch);
  // With the guard's leave, and a second time where the first finds no room and the guard makes
  // some.
  void RunAdmitted(Connection& connection, Ticket& ticket);
  void RunAlone(Connection& connection, Ticket& ticket);
  bool Admits(const Batch& batch);
  // COMMIT between the phases of the batch's effects, then the guard's confirmation. An Error:
  // nothing is committed, and the transaction is over.
  Result<void> CommitWithEffects(Connection& connection, const Batch& batch) noexcept;

  ConnectionPool& pool_;
  StorageGuard* const guard_;
  Commit commit_;  // posted by whoever sets has_writer_ for a write of Submit
  Mutex mutex_;
  std::deque<Ticket*> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  bool has_writer_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool had_company_ PENSTOCK_GUARDED_BY(mutex_) = false;  // in the batch before
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
