// Group commit: writes that arrive while another is committing share the next transaction.
//
// There is one writer at a time: of the callers that wait, the first becomes the writer, runs everybody's work in one
// transaction and wakes the others with their results. So a lone caller pays no change of thread.
#ifndef PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
#define PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_

#include <deque>
#include <functional>
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
  struct Ticket {
    const Work* work;
    Company company;
    Result<void> result;
    std::vector<std::function<void()>> effects;
    bool done = false;
    CondVar finished;
  };
  using Batch = std::vector<Ticket*>;

  void FillBatch(Batch& batch) PENSTOCK_REQUIRES(mutex_);
  // Gives every ticket of the batch a result, whatever is thrown: their owners wait for it.
  void Serve(const Batch& batch) noexcept;
  static void Execute(Connection& connection, const Batch& batch);
  static bool TryTogether(Connection& connection, const Batch& batch);
  static void RunAlone(Connection& connection, Ticket& ticket);

  ConnectionPool& pool_;
  Mutex mutex_;
  std::deque<Ticket*> waiting_ PENSTOCK_GUARDED_BY(mutex_);  // the front one is the writer
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_WRITE_QUEUE_H_
