#include "emulator/store/commits/write_queue.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

Result<void> Step(Connection& connection, const char* sql) { return Query(connection, sql).Run(); }

constinit DiagnosticEvent write_threw("store.write_threw");
constinit DiagnosticEvent effect_threw("store.commit_effect_threw");

// The exception being handled. Building the error allocates no memory if memory has run out.
Error ReportException(DiagnosticEvent& event) noexcept {
  Error error = CurrentExceptionError();
  event.Report(error);
  return error;
}

// Runs all effects, even after one has thrown, because their state must follow the database.
// Returns the first exception.
Result<void> RunEffects(const std::vector<WriteTransaction::Effect>& effects,
                        CommitPhase phase) noexcept {
  Result<void> all = Ok();
  for (const auto& effect : effects) {
    try {
      effect(phase);
    } catch (...) {
      Error error = ReportException(effect_threw);
      if (all.ok()) all = std::move(error);
    }
  }
  return all;
}

}  // namespace

void WriteQueue::Waiter::Prepare() {
  const MutexLock lock(mutex_);
  state_ = State::kWaiting;
}

void WriteQueue::Waiter::Notify(State state) {
  {
    const MutexLock lock(mutex_);
    state_ = state;
  }
  changed_.NotifyOne();
}

WriteQueue::State WriteQueue::Waiter::Await() {
  const MutexLock lock(mutex_);
  while (state_ == State::kWaiting) changed_.WaitIdle(mutex_);
  return state_;
}

const std::shared_ptr<WriteQueue::Waiter>& WriteQueue::ThreadWaiter() {
  thread_local const auto own = std::make_shared<Waiter>();
  return own;
}

// An exception of one unit of work fails only that work, like an Error that it returns.
Result<void> WriteQueue::Ticket::Perform(WriteTransaction& transaction) noexcept {
  try {
    return deferred != nullptr ? deferred->Write(transaction) : (*work)(transaction);
  } catch (...) {
    return ReportException(write_threw);
  }
}

Result<void> WriteQueue::Run(const Work& work, Batching batching, Purpose purpose) {
  Ticket ticket;
  ticket.work = &work;
  ticket.batching = batching;
  ticket.purpose = purpose;
  ticket.waiter = ThreadWaiter();
  ticket.waiter->Prepare();
  bool is_writer = false;
  bool expects_more_writes = false;
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(&ticket);
    is_writer = !has_writer_;
    has_writer_ = true;
    expects_more_writes = had_concurrent_writes_;
  }
  if (!is_writer && ticket.waiter->Await() == State::kDone) return std::move(ticket.result);
  // Yield once, so that threads that are about to write join this batch instead of paying for
  // another transaction.
  if (expects_more_writes || !is_writer) std::this_thread::yield();
  WriteBatch(Executor::Caller::kGoesOn, &ticket);
  return std::move(ticket.result);
}

void WriteQueue::Submit(std::unique_ptr<Deferred> write, Executor& executor) noexcept {
  std::unique_ptr<Ticket> ticket;
  bool is_first = false;
  try {
    ticket = std::make_unique<Ticket>();
    ticket->purpose = write->purpose();
    const MutexLock lock(mutex_);
    waiting_.push_back(ticket.get());
    ticket->deferred = std::move(write);
    ticket->executor = &executor;
    // Once the lock is released, the current writer may run and delete the ticket.
    static_cast<void>(ticket.release());
    is_first = !has_writer_;
    has_writer_ = true;
  } catch (...) {
    return write->Done(ReportException(write_threw));
  }
  if (is_first) executor.Execute(commit_, Executor::Caller::kReturns);
}

void WriteQueue::WriteBatch(Executor::Caller caller, const Ticket* own) noexcept {
  Batch batch;
  TakeBatch(batch);
  ProcessBatch(batch);
  HandOver(batch, caller);  // first: the next batch runs while this one's results are reported
  for (Ticket* ticket : batch) {
    if (ticket == own) continue;
    if (ticket->deferred != nullptr) {
      const std::unique_ptr<Ticket> owned(ticket);
      ticket->deferred->Done(std::move(ticket->result));
    } else {
      const std::shared_ptr<Waiter> waiter = ticket->waiter;
      waiter->Notify(State::kDone);
    }
  }
}

void WriteQueue::HandOver(const Batch& batch, Executor::Caller caller) noexcept {
  std::shared_ptr<Waiter> next;
  Executor* executor = nullptr;
  {
    const MutexLock lock(mutex_);
    had_concurrent_writes_ = batch.size > 1 || !waiting_.empty();
    has_writer_ = !waiting_.empty();
    if (!has_writer_) return;
    next = waiting_.front()->waiter;
    executor = waiting_.front()->executor;
  }
  if (next != nullptr) {
    next->Notify(State::kWriter);
  } else {
    executor->Execute(commit_, caller);
  }
}

void WriteQueue::TakeBatch(Batch& batch) {
  const MutexLock lock(mutex_);
  while (!waiting_.empty() && batch.size < kLargestBatch) {
    Ticket* const ticket = waiting_.front();
    const bool alone = ticket->batching == Batching::kAlone;
    if (alone && batch.size > 0) break;
    batch.tickets[batch.size++] = ticket;
    waiting_.pop_front();
    if (alone) break;
  }
}

void WriteQueue::ProcessBatch(const Batch& batch) noexcept {
  try {
    auto lease = pool_.Take();
    if (!lease.ok()) {
      for (Ticket* ticket : batch) ticket->result = lease.error();
      return;
    }
    try {
      Execute(**lease, batch);
    } catch (...) {
      (**lease).RollBack();  // the next user must not find an open transaction
      throw;
    }
  } catch (...) {
    write_threw.Report(CurrentExceptionError());
    // Not a copy, which may need memory.
    for (Ticket* ticket : batch) ticket->result = CurrentExceptionError();
  }
}

void WriteQueue::Execute(Connection& connection, const Batch& batch) {
  connection.RollBack();  // does nothing unless an earlier rollback ran out of memory
  if (batch.size > 1 && Admits(batch) && TryAsOneTransaction(connection, batch)) return;
  // One by one: if the transaction fails as a whole (disk full), work that would succeed alone must
  // not fail.
  for (Ticket* ticket : batch) RunAdmitted(connection, *ticket);
}

bool WriteQueue::Admits(const Batch& batch) {
  const auto needs_room = [](const Ticket* ticket) { return ticket->purpose == Purpose::kStore; };
  return guard_ == nullptr || std::none_of(batch.begin(), batch.end(), needs_room) ||
         guard_->Admit().ok();
}

void WriteQueue::RunAdmitted(Connection& connection, Ticket& ticket) {
  if (guard_ != nullptr && ticket.purpose == Purpose::kStore) {
    ticket.result = guard_->Admit();
    if (!ticket.result.ok()) return;
  }
  RunAlone(connection, ticket);
  const bool had_no_room =
      !ticket.result.ok() && ticket.result.error().kind == ErrorKind::kResourceExhausted;
  if (!had_no_room || guard_ == nullptr || ticket.purpose != Purpose::kRemove ||
      !guard_->MakeRoom())
    return;
  RunAlone(connection, ticket);
  if (ticket.result.ok()) guard_->Reclaim(connection);
}

// Uses no savepoints, which copy every changed page: work that fails usually fails before it
// changes anything.
bool WriteQueue::TryAsOneTransaction(Connection& connection, const Batch& batch) {
  if (!Step(connection, "BEGIN IMMEDIATE").ok()) return false;
  bool sound = true;
  for (Ticket* ticket : batch) {
    const std::int64_t changes = connection.Changes();
    WriteTransaction transaction(connection);
    ticket->result = ticket->Perform(transaction);
    ticket->effects = std::move(transaction.effects_);
    if (!ticket->result.ok()) ticket->effects.clear();
    sound = connection.InTransaction() && (ticket->result.ok() || connection.Changes() == changes);
    if (!sound) break;
  }
  if (sound) return CommitWithEffects(connection, batch).ok();
  connection.RollBack();
  return false;
}

Result<void> WriteQueue::CommitWithEffects(Connection& connection, const Batch& batch) noexcept {
  Result<void> committed = Ok();
  for (Ticket* ticket : batch) {
    Result<void> ready = RunEffects(ticket->effects, CommitPhase::kBefore);
    if (committed.ok() && !ready.ok()) committed = std::move(ready);
  }
  try {
    if (committed.ok()) committed = Step(connection, "COMMIT");
    if (!committed.ok()) connection.RollBack();
  } catch (...) {  // no memory for SQLite's error; Execute rolls back what remains open
    committed = ReportException(write_threw);
  }
  const Result<void> confirmed = guard_ == nullptr || !committed.ok() ? Ok() : guard_->Confirm();
  for (Ticket* ticket : batch) {
    Result<void> done = RunEffects(ticket->effects,
                                   committed.ok() ? CommitPhase::kCommitted : CommitPhase::kUndone);
    if (committed.ok() && !done.ok()) ticket->result = std::move(done);
    if (!confirmed.ok()) ticket->result = confirmed.error();
  }
  return committed;
}

void WriteQueue::RunAlone(Connection& connection, Ticket& ticket) {
  ticket.result = Step(connection, "BEGIN IMMEDIATE");
  if (!ticket.result.ok()) return;
  WriteTransaction transaction(connection);
  ticket.result = ticket.Perform(transaction);
  if (!ticket.result.ok()) return connection.RollBack();
  ticket.effects = std::move(transaction.effects_);
  const Batch batch{.tickets = {&ticket}, .size = 1};
  if (auto committed = CommitWithEffects(connection, batch); !committed.ok())
    ticket.result = std::move(committed);
}

}  // namespace penstock::emulator::store
