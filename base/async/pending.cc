#include "penstock/base/pending.h"

#include <chrono>
#include <string>

#include "base/async/poll_interrupt.h"
#include "base/log/caught.h"
#include "base/process_id.h"
#include "penstock/base/blocking.h"

namespace penstock::internal {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

}  // namespace

int PendingCore::CurrentProcess() { return ProcessId(); }

bool PendingCore::CanComplete() const { return process_ == ProcessId(); }

Error PendingCore::ForkError() const {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "this result was requested in process " + std::to_string(process_) +
                         " and cannot be used after fork(); send the request in this process");
}

void PendingCore::RequestStop() {
  if (CanComplete()) stop_.request_stop();
}

void PendingCore::Forward::operator()() noexcept {
  if (process != ProcessId()) return;
  std::stop_source kept = source;  // the call may end in a callback, and destroy this object
  kept.request_stop();
}

std::stop_token PendingCore::Link(const std::stop_token& caller) {
  if (caller.stop_possible()) link_.emplace(caller, Forward{stop_, process_});
  return stop_.get_token();
}

void PendingCore::SetComplete() {
  std::function<void()> continuation;
  {
    const MutexLock lock(mutex_);
    complete_.store(true, std::memory_order_release);
    continuation.swap(continuation_);
    completed_.NotifyAll();
  }
  if (continuation) continuation();
}

Result<void> PendingCore::Wait(const std::function<bool()>& interrupt) {
  if (complete()) return Ok();
  // The locks of the copy may be held by a thread of the parent.
  if (!CanComplete()) return ForkError();
  PENSTOCK_TRY(CheckMayBlock("a blocking call"));
  bool stopping = false;
  Result<void> result = Ok();
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!complete()) completed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
      if (complete()) return result;
    }
    if (stopping) continue;
    const Result<bool> interrupted = PollInterrupt(interrupt);
    if (interrupted.ok() && !*interrupted) continue;
    stopping = true;
    if (!interrupted.ok()) result = interrupted.error();
    RequestStop();
  }
}

bool PendingCore::Subscribe(std::function<void()> continuation) {
  if (complete() || !CanComplete()) return false;
  const MutexLock lock(mutex_);
  if (complete()) return false;
  continuation_ = std::move(continuation);
  return true;
}

void PendingCore::Unsubscribe() {
  if (complete() || !CanComplete()) return;
  std::function<void()> dropped;
  const MutexLock lock(mutex_);
  dropped.swap(continuation_);
}

void RunOn(const CallbackExecutor& executor, std::function<void()> task) noexcept {
  if (!executor) return Contain("the continuation of a call", task);
  // Shared with the executor, which may copy or drop its task.
  const Result<void> prepared = Caught("an executor", [&] {
    const auto ran = std::make_shared<std::atomic<bool>>(false);
    const auto once = [ran, task] {
      if (!ran->exchange(true)) Contain("the continuation of a call", task);
    };
    if (!Caught("an executor", [&] { executor(once); }).ok()) once();
  });
  if (!prepared.ok()) Contain("the continuation of a call", task);  // no memory for the wrapper
}

Error CoroutineError() noexcept { return CaughtError("a coroutine"); }

}  // namespace penstock::internal
