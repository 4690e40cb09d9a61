// Group commit: writes that arrive while another is committing share the next transaction.
//
// There is one writer at a time: of the callers that wait, the first becomes the writer, runs everybody's work in one
// transaction and wakes the others with their results. So a lone caller pays no change of thread, and nobody is woken
// before there is something for him to do.
#ifndef PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
#define PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/store/connection_pool.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// What one piece of work writes with.
class WriteTransaction {
 public:
  explicit WriteTransaction(Connection& connection) : connection_(connection) {}
  Connection& connection() { return connection_; }
  // Runs after the commit, before the caller is told; in order of the writes. Never when the work failed.
  void AfterCommit(std::function<void()> effect) { effects_.push_back(std::move(effect)); }

 private:
  friend class WriteQueue;
  Connection& connection_;
  std::vector<std::function<void()>> effects_;
};

// Thread safety: any thread.
class WriteQueue {
 public:
  // `pool` lends the connection to write with, and outlives the queue.
  explicit WriteQueue(ConnectionPool& pool) : pool_(pool) {}

  enum class Company { kWelcome, kAlone };  // kAlone: no other work in the same transaction
  // Runs `work` inside a transaction and returns when it is committed (durable as the connection is set) or undone. An
  // Error of the work undoes this work only. It may be run again after a failure of others, so it must not consume what
  // it captured, and it may run on another thread while the caller waits. Work that throws has failed:
  // kResourceExhausted.
  using Work = std::function<Result<void>(WriteTransaction&)>;
  Result<void> Run(const Work& work, Company company = Company::kWelcome);

 private:
  static constexpr std::size_t kLargestBatch = 64;  // beyond it a row costs the same (spec/performance.md §3f)

  enum class State { kWaiting, kWriter, kDone };
  // Where one thread waits for news. Shared, so that who brings the news may ring after the waiter has left: ringing under
  // the lock would wake it only to wait for the lock.
  class Doorbell {
   public:
    void Prepare();
    void Ring(State news);
    State Await();  // the first news since Prepare

   private:
    Mutex mutex_;
    State state_ PENSTOCK_GUARDED_BY(mutex_) = State::kWaiting;
    CondVar rung_;
  };
  // On its caller's stack: whoever rings kDone must not touch it afterwards.
  struct Ticket {
    const Work* work;
    Company company;
    std::shared_ptr<Doorbell> doorbell;
    Result<void> result;
    std::vector<std::function<void()>> effects;
  };
  // Of fixed size: nothing between joining the queue and leaving it may throw.
  struct Batch {
    std::array<Ticket*, kLargestBatch> tickets{};
    std::size_t size = 0;

    auto begin() const { return tickets.begin(); }
    auto end() const { return tickets.begin() + static_cast<std::ptrdiff_t>(size); }
  };

  // The calling thread's own.
  static const std::shared_ptr<Doorbell>& OwnDoorbell();
  void TakeBatch(Batch& batch);
  // Gives every ticket of the batch a result, whatever is thrown: their owners wait for it.
  void Serve(const Batch& batch) noexcept;
  static void Execute(Connection& connection, const Batch& batch);
  static bool TryTogether(Connection& connection, const Batch& batch);
  static void RunAlone(Connection& connection, Ticket& ticket);

  ConnectionPool& pool_;
  Mutex mutex_;
  std::deque<Ticket*> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  bool has_writer_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool had_company_ PENSTOCK_GUARDED_BY(mutex_) = false;  // in the batch before
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
