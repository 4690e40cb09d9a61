#include "emulator/store/write_queue.h"

#include <utility>

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kLargestBatch = 64;  // beyond it a row costs the same (spec/performance.md §3f)

Result<void> Step(Connection& connection, const char* sql) { return Query(connection, sql).Run(); }

// After a failure SQLite may have ended the transaction by itself. What is left open is undone here; a rollback of ours
// cannot fail in a way that leaves it open.
void Abandon(Connection& connection) {
  if (connection.InTransaction()) static_cast<void>(Step(connection, "ROLLBACK").ok());
}

// Built where memory has run out: every text is short enough to need none.
Error OutOfMemory() noexcept { return Error::Make(ErrorKind::kResourceExhausted, "out of memory"); }

// Exceptions stop here: what one work throws fails this work like an Error of its own.
Result<void> Perform(const WriteQueue::Work& work, WriteTransaction& transaction) noexcept {
  try {
    return work(transaction);
  } catch (...) {
    return OutOfMemory();
  }
}

// All of them, also behind one that throws: what they keep must follow what is committed. False: one threw.
bool RunEffects(const std::vector<std::function<void()>>& effects) noexcept {
  bool whole = true;
  for (const auto& effect : effects) {
    try {
      effect();
    } catch (...) {
      whole = false;
    }
  }
  return whole;
}

}  // namespace

Result<void> WriteQueue::Run(const Work& work, Company company) {
  Ticket mine{&work, company, {}, {}, false, {}};
  Batch batch;
  batch.reserve(kLargestBatch);  // nothing between joining the queue and leaving it may throw
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(&mine);
    while (!mine.done && waiting_.front() != &mine) mine.finished.WaitIdle(mutex_);
    if (mine.done) return std::move(mine.result);
    FillBatch(batch);
  }
  Serve(batch);
  const MutexLock lock(mutex_);
  for (Ticket* ticket : batch) {
    waiting_.pop_front();
    ticket->done = true;
    if (ticket != &mine) ticket->finished.NotifyOne();  // under the lock: the ticket dies once its owner gets it
  }
  if (!waiting_.empty()) waiting_.front()->finished.NotifyOne();
  return std::move(mine.result);
}

void WriteQueue::FillBatch(Batch& batch) {
  for (Ticket* ticket : waiting_) {
    const bool alone = ticket->company == Company::kAlone;
    if (!batch.empty() && (alone || batch.size() == kLargestBatch)) break;
    batch.push_back(ticket);
    if (alone) break;
  }
}

void WriteQueue::Serve(const Batch& batch) noexcept {
  try {
    auto lease = pool_.Take();
    if (!lease.ok()) {
      for (Ticket* ticket : batch) ticket->result = lease.error();
      return;
    }
    try {
      Execute(**lease, batch);
    } catch (...) {
      Abandon(**lease);  // the next borrower must not find a transaction open
      throw;
    }
  } catch (...) {
    for (Ticket* ticket : batch) ticket->result = OutOfMemory();
  }
}

void WriteQueue::Execute(Connection& connection, const Batch& batch) {
  if (batch.size() > 1 && TryTogether(connection, batch)) return;
  // One by one: a transaction that failed as a whole (disk full) must not fail those that could do without.
  for (Ticket* ticket : batch) RunAlone(connection, *ticket);
}

bool WriteQueue::TryTogether(Connection& connection, const Batch& batch) {
  if (!Step(connection, "BEGIN IMMEDIATE").ok()) return false;
  for (Ticket* ticket : batch) {
    if (!Step(connection, "SAVEPOINT work").ok()) break;
    WriteTransaction transaction(connection);
    ticket->result = Perform(*ticket->work, transaction);
    ticket->effects = std::move(transaction.effects_);
    if (!connection.InTransaction()) return false;
    if (!ticket->result.ok()) {
      ticket->effects.clear();
      if (!Step(connection, "ROLLBACK TO work").ok()) break;
    }
    if (!Step(connection, "RELEASE work").ok()) break;
    if (ticket != batch.back()) continue;
    if (!Step(connection, "COMMIT").ok()) break;
    for (Ticket* committed : batch) {
      if (!RunEffects(committed->effects)) committed->result = OutOfMemory();
    }
    return true;
  }
  Abandon(connection);
  return false;
}

void WriteQueue::RunAlone(Connection& connection, Ticket& ticket) {
  ticket.result = Step(connection, "BEGIN IMMEDIATE");
  if (!ticket.result.ok()) return;
  WriteTransaction transaction(connection);
  ticket.result = Perform(*ticket.work, transaction);
  if (ticket.result.ok()) ticket.result = Step(connection, "COMMIT");
  if (!ticket.result.ok()) return Abandon(connection);
  if (!RunEffects(transaction.effects_)) ticket.result = OutOfMemory();
}

}  // namespace penstock::emulator::store
