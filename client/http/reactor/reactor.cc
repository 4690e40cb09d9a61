#include "client/http/reactor/reactor.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log/caught.h"
#include "base/signals_blocked.h"
#include "client/http/connect/curl_global.h"
#include "client/http/exchange/connection.h"
#include "client/http/uri.h"
#include "penstock/base/blocking.h"

namespace penstock::http {
namespace {

constexpr std::chrono::minutes kLongestSleep{1};
constexpr std::chrono::hours kLongestIdle{24};  // keeps sums of time points in range
constexpr int kUnsentChecks = 8;                // checks of unsent bytes per idle timeout
constexpr std::string_view kIoThread = "the work of an I/O thread";
constexpr std::string_view kSubmit = "the start of a request";
constexpr std::string_view kTask = "a task of a timer";

std::chrono::milliseconds IdleTimeout(const Transfer& transfer) {
  return std::min<std::chrono::milliseconds>(transfer.request.idle_timeout, kLongestIdle);
}

MonotonicTime Now() { return SystemClock().Monotonic(); }

Error Stopped() { return Error::Make(ErrorKind::kCancelled, "the transport was shut down"); }

Error Cancelled(const Request& request) {
  return Error::Make(ErrorKind::kCancelled,
                     "the request to " + Authority(request.endpoint) + " was cancelled");
}

Error TimedOut(const Transfer& transfer, MonotonicTime now, const std::string& what) {
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - transfer.started);
  return Error::Make(ErrorKind::kTimeout, "request to " + Authority(transfer.request.endpoint) +
                                              ": " + what + " after " +
                                              std::to_string(elapsed.count()) + " ms, with " +
                                              std::to_string(transfer.sent) + " bytes sent and " +
                                              std::to_string(transfer.received) + " received");
}

// Returns why the idle timeout ends a transfer.
std::string Stalled(const Transfer& transfer) {
  const std::string limit = std::to_string(transfer.request.idle_timeout.count()) + " ms";
  if (transfer.arrived <= transfer.last_activity) return "no byte moved for " + limit;
  if (transfer.head.complete())
    return "the server sent chunk lines or trailers but no byte of the body for " + limit;
  return "the server sent interim responses or an unfinished head for " + limit;
}

std::optional<int> SocketOf(const Transfer& transfer) {
  const Connection* const connection = transfer.connection;
  if (connection == nullptr || !connection->socket.has_value()) return std::nullopt;
  return connection->socket->fd();
}

// Unsent bytes in the socket also count as activity: on a slow link the system still sends bytes
// that it accepted long ago. The system does not report this, but the number of unsent bytes shows
// it.
void CheckUnsentBytes(Transfer& transfer, MonotonicTime now) {
  transfer.last_unsent_check = now;
  int unsent = 0;
  const std::optional<int> fd = SocketOf(transfer);
  if (!fd || ::ioctl(*fd, SIOCOUTQ, &unsent) != 0) return;
  if (transfer.unsent_bytes.has_value() && unsent < *transfer.unsent_bytes)
    transfer.last_activity = now;
  transfer.unsent_bytes = unsent;
}

}  // namespace

Reactor::Reactor(const HttpTransportOptions& options, std::size_t max_transfers)
    : options_(options), max_transfers_(max_transfers), fork_generation_(ForkGeneration()) {
  active_.reserve(max_transfers_);  // so that adding one cannot fail
}

Reactor::~Reactor() = default;

Result<void> Reactor::StartThread() {
  if (started_) return Ok();
  if (!InitCurl())
    return Error::Make(ErrorKind::kResourceExhausted, "libcurl could not be initialised");
  if (runner_ == nullptr) {
    runner_ = ExchangeRunner::Create(options_, max_transfers_,
                                     [this](const TransferPtr& transfer, Result<Outcome> outcome) {
                                       Finish(transfer, std::move(outcome));
                                     });
  }
  if (runner_ == nullptr)
    return Error::Make(ErrorKind::kResourceExhausted, "no file descriptor left for an I/O thread");
  try {
    const SignalsBlocked blocked;  // inherited by the new thread
    thread_ = std::thread([self = shared_from_this()] { self->Run(); });
  } catch (const std::system_error& error) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       std::string("cannot start an I/O thread: ") + error.what());
  }
  started_ = true;
  return Ok();
}

void Reactor::Wake() {
  if (!sleeping_) return;
  sleeping_ = false;
  runner_->Wake();
}

Result<void> Reactor::TrySubmit(const TransferPtr& transfer) {
  // The stop callback may run before the transfer is in the inbox, or immediately. Admit checks the
  // token too.
  if (transfer->context.cancel.stop_possible()) {
    transfer->on_stop.emplace(transfer->context.cancel,
                              [this, raw = transfer.get()] { Cancel(raw->shared_from_this()); });
  }
  load_.fetch_add(1, std::memory_order_relaxed);
  Result<void> accepted = Caught(kSubmit, [&] { return Enqueue(transfer); });
  if (accepted.ok()) return accepted;
  load_.fetch_sub(1, std::memory_order_relaxed);
  transfer->on_stop.reset();  // not under mutex_, which a running callback takes
  return accepted;
}

Result<void> Reactor::Enqueue(const TransferPtr& transfer) {
  const MutexLock lock(mutex_);
  if (closed_ || command_ != Command::kRun) return Stopped();
  PENSTOCK_TRY(StartThread());
  inbox_.submitted.push_back(transfer);
  Wake();
  return Ok();
}

void Reactor::Submit(const TransferPtr& transfer) {
  Result<void> accepted = TrySubmit(transfer);
  if (!accepted.ok()) Complete(*transfer, std::move(accepted).error());
}

// Runs inside std::stop_source::request_stop, which must not throw.
void Reactor::Cancel(const TransferPtr& transfer) noexcept {
  // The request belongs to the parent process, and its lock may be held forever.
  if (fork_generation_ != ForkGeneration()) return;
  const MutexLock lock(mutex_);
  if (closed_) return;
  try {
    inbox_.cancelled.push_back(transfer);
  } catch (const std::bad_alloc&) {
    inbox_.more_cancelled = true;
  }
  Wake();
}

Result<void> Reactor::RunAt(MonotonicTime when, std::function<void()>&& task) {
  const MutexLock lock(mutex_);
  if (closed_ || command_ != Command::kRun) return Stopped();
  PENSTOCK_TRY(StartThread());
  inbox_.tasks.emplace_back(when, std::move(task));
  Wake();
  return Ok();
}

void Reactor::Stop() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    command_ = Command::kStop;
    if (!started_) {
      closed_ = true;
      return;
    }
    Wake();
    thread = std::move(thread_);
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // ends by itself, right after the completion that called Stop
  } else {
    thread.join();
  }
}

void Reactor::StopForExit(std::chrono::milliseconds limit) {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    command_ = Command::kStop;
    if (!started_) closed_ = true;
    if (closed_) return;
    Wake();
    const MonotonicTime until = Now() + limit;
    while (!closed_) {
      if (!closed_changed_.WaitUntil(mutex_, until)) break;
    }
    if (!closed_) return;
    thread = std::move(thread_);
  }
  if (thread.joinable() && thread.get_id() != std::this_thread::get_id()) thread.join();
}

void Reactor::Run() {
  const IoThreadScope io_thread;
  while (TakeInbox() == Command::kRun) Contain(kIoThread, [this] { RunOnce(); });
  ShutDown();
}

// Does everything that is due, then waits. An exception while handling one transfer ends only that
// transfer.
void Reactor::RunOnce() {
  // Moved out first, because completions may submit again.
  for (const TransferPtr& transfer : std::exchange(taken_.cancelled, {})) {
    const TransferState state = transfer->state;
    if (state == TransferState::kActive || state == TransferState::kWaiting) {
      Finish(transfer, Cancelled(transfer->request));
    }
  }
  if (std::exchange(taken_.more_cancelled, false)) CancelStopped();
  for (auto& [when, task] : taken_.tasks) tasks_.emplace(when, std::move(task));
  taken_.tasks.clear();
  if (!taken_.submitted.empty() || CanAdmit()) runner_->DropIdleWithInput();
  for (const TransferPtr& transfer : taken_.submitted) Protect(transfer, [&] { Admit(transfer); });
  taken_.submitted.clear();
  AdmitWaiting();
  RunDueTimers();
  runner_->Work();
  if (!CanAdmit()) Poll();
}

// For cancellations that could not be queued because memory ran out.
void Reactor::CancelStopped() {
  const auto stopped = [](const TransferPtr& transfer) {
    return transfer->context.cancel.stop_requested();
  };
  for (auto found = waiting_.begin();
       (found = std::ranges::find_if(waiting_, stopped)) != waiting_.end();) {
    Finish(*found, Cancelled((*found)->request));
  }
  for (auto found = active_.begin();
       (found = std::ranges::find_if(active_, stopped)) != active_.end();) {
    Finish(*found, Cancelled((*found)->request));
  }
}

template <class Work>
void Reactor::Protect(const TransferPtr& transfer, Work work) {
  try {
    work();
  } catch (...) {
    Error error = CaughtError(kIoThread);
    if (transfer->state != TransferState::kDone) Finish(transfer, std::move(error));
  }
}

Reactor::Command Reactor::TakeInbox() {
  const MutexLock lock(mutex_);
  std::swap(taken_, inbox_);
  return command_;
}

void Reactor::Admit(const TransferPtr& transfer) {
  if (transfer->context.cancel.stop_requested())
    return Finish(transfer, Cancelled(transfer->request));
  if (transfer->context.deadline.when() != MonotonicTime::max()) {
    const MonotonicTime now = Now();
    if (transfer->context.deadline.when() <= now)
      return Finish(transfer, TimedOut(*transfer, now, "the deadline passed"));
  }
  if (active_.size() < max_transfers_ && waiting_.empty()) return Activate(transfer);
  transfer->state = TransferState::kWaiting;
  waiting_.push_back(transfer);
  Arm(transfer);
}

void Reactor::AdmitWaiting() {
  while (CanAdmit()) {
    const TransferPtr next = std::move(waiting_.front());
    waiting_.pop_front();
    Protect(next, [&] { Activate(next); });
  }
}

bool Reactor::CanAdmit() const { return active_.size() < max_transfers_ && !waiting_.empty(); }

void Reactor::Activate(const TransferPtr& transfer) {
  transfer->Touch();
  transfer->state = TransferState::kActive;
  transfer->active_index = active_.size();
  active_.push_back(transfer);
  Arm(transfer);
  runner_->Begin(transfer);
}

void Reactor::RemoveActive(Transfer& transfer) {
  std::swap(active_[transfer.active_index], active_.back());
  active_[transfer.active_index]->active_index = transfer.active_index;
  active_.pop_back();
}

// Returns when the deadline, the idle timeout, or the next check of unsent bytes is due.
MonotonicTime Reactor::DueTime(const Transfer& transfer) {
  const MonotonicTime deadline = transfer.context.deadline.when();
  if (transfer.state != TransferState::kActive) return deadline;
  const std::chrono::milliseconds idle = IdleTimeout(transfer);
  const MonotonicTime silent = std::min(deadline, transfer.last_activity + idle);
  if (transfer.request_body == nullptr) return silent;
  return std::min(
      silent, std::max(transfer.last_activity, transfer.last_unsent_check) + idle / kUnsentChecks);
}

void Reactor::Arm(const TransferPtr& transfer) {
  next_check_ = std::min(next_check_, DueTime(*transfer));
}

void Reactor::RunDueTimers() {
  if (tasks_.empty() && next_check_ == MonotonicTime::max()) return;
  const MonotonicTime now = Now();
  if (next_check_ <= now) CheckTimers(now);
  while (!tasks_.empty() && tasks_.begin()->first <= now) {
    const std::function<void()> task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    Contain(kTask, task);
  }
}

// A transfer that ends does not change next_check_, so this may run too early, but at most about
// once per shortest timeout. In return, starting and ending transfers, which is far more frequent,
// costs nothing.
void Reactor::CheckTimers(MonotonicTime now) {
  // Running out of memory must not lose a timeout: then all transfers are checked again.
  try {
    next_check_ = MonotonicTime::max();
    std::vector<TransferPtr> due;
    const auto look = [&](const TransferPtr& transfer) {
      DueTime(*transfer) <= now ? due.push_back(transfer) : Arm(transfer);
    };
    for (const TransferPtr& transfer : active_) look(transfer);
    for (const TransferPtr& transfer : waiting_) look(transfer);
    for (const TransferPtr& transfer : due) {
      if (transfer->state != TransferState::kDone) CheckTimer(transfer, now);
    }
  } catch (...) {
    next_check_ = now;
    throw;
  }
}

void Reactor::CheckTimer(const TransferPtr& transfer, MonotonicTime now) {
  if (transfer->context.deadline.when() <= now) {
    return Finish(transfer, TimedOut(*transfer, now, "the deadline passed"));
  }
  if (transfer->connection != nullptr) runner_->CheckTimer(transfer, now);
  if (transfer->state == TransferState::kDone) return;
  if (transfer->state == TransferState::kActive && transfer->request_body != nullptr)
    CheckUnsentBytes(*transfer, now);
  if (transfer->state == TransferState::kActive &&
      transfer->last_activity + IdleTimeout(*transfer) <= now) {
    return Finish(transfer, TimedOut(*transfer, now, Stalled(*transfer)).About("idle_timeout"));
  }
  Arm(transfer);
}

void Reactor::Finish(const TransferPtr& transfer, Result<Outcome> outcome) {
  const TransferPtr alive = transfer;  // the caller's reference may be the one in the map
  if (alive->state == TransferState::kWaiting) std::erase(waiting_, alive);
  if (alive->connection != nullptr) runner_->Abandon(*alive);
  if (alive->state == TransferState::kActive) RemoveActive(*alive);
  alive->state = TransferState::kDone;
  // Waits for a running callback, which needs only mutex_, which is not held here.
  alive->on_stop.reset();
  load_.fetch_sub(1, std::memory_order_relaxed);
  Complete(*alive, std::move(outcome));
}

void Reactor::Complete(Transfer& transfer, Result<Outcome> outcome) {
  const Completion done = std::move(transfer.done);
  transfer.state = TransferState::kDone;
  Contain("the completion of a request", [&] { done(std::move(outcome)); });
}

int Reactor::PollTimeoutMs() const {
  MonotonicTime next = MonotonicTime::max();
  if (!tasks_.empty()) next = tasks_.begin()->first;
  next = std::min({next, next_check_, runner_->NextTimer()});
  if (next == MonotonicTime::max())
    return static_cast<int>(std::chrono::milliseconds(kLongestSleep).count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::chrono::milliseconds(kLongestSleep).count()));
}

void Reactor::Poll() {
  const int timeout_ms = PollTimeoutMs();
  {
    const MutexLock lock(mutex_);
    if (!inbox_.empty() || command_ != Command::kRun) return;
    sleeping_ = true;
  }
  runner_->Wait(timeout_ms);
  const MutexLock lock(mutex_);
  sleeping_ = false;
}

// No requests are accepted any more: everything has been taken out of the inbox.
void Reactor::ShutDown() {
  std::vector<TransferPtr> rest = std::exchange(taken_.submitted, {});
  Inbox late;  // left by a round that threw
  {
    const MutexLock lock(mutex_);
    std::swap(late, inbox_);
  }
  rest.insert(rest.end(), late.submitted.begin(), late.submitted.end());
  for (auto& [when, task] : late.tasks) tasks_.emplace(when, std::move(task));
  rest.insert(rest.end(), waiting_.begin(), waiting_.end());
  rest.insert(rest.end(), active_.begin(), active_.end());
  for (auto& [when, task] : std::exchange(taken_.tasks, {})) tasks_.emplace(when, std::move(task));
  for (const TransferPtr& transfer : rest) Finish(transfer, Stopped());
  for (const auto& [when, task] : std::exchange(tasks_, {})) Contain(kTask, task);
  const MutexLock lock(mutex_);
  closed_ = true;
  closed_changed_.NotifyAll();
}

}  // namespace penstock::http
