// The result of an asynchronous call: to wait for, to pass to a callback, or to await in a
// coroutine.
//
//   Pending<ObjectMetadata> head = client.HeadObjectAsync({.bucket = bucket, .key = key});
//
//   Result<ObjectMetadata> result = head.Get();                        // blocks, or
//   std::move(head).Then([](Result<ObjectMetadata> result) { ... });   // callback, or
//   std::future<Result<ObjectMetadata>> f = std::move(head).Future();  // future, or
//   Result<ObjectMetadata> result = co_await std::move(head);          // in a coroutine
//
// In a coroutine, start a call with a braced request in its own statement, as above. g++ up to 12
// destroys a temporary of an aggregate type twice if it is part of the awaited expression.
#ifndef PENSTOCK_BASE_PENDING_H_
#define PENSTOCK_BASE_PENDING_H_

#include <atomic>
#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "penstock/base/export.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// Runs each task exactly once, on a thread of its choice. It may run the task before it returns. If
// it throws without running the task, the task runs on the thread that called the executor.
using CallbackExecutor = std::function<void(std::function<void()> task)>;

namespace internal {

// The part of a pending result that does not depend on its type. Shared by the Pending and the
// callback that completes it.
//
// Thread safety: any thread.
class PendingCore {
 public:
  PendingCore() = default;
  PendingCore(const PendingCore&) = delete;
  PendingCore& operator=(const PendingCore&) = delete;

  // Forwards a stop request of the caller. Returns the token of the call. Call once, before the
  // call starts.
  std::stop_token Link(const std::stop_token& caller);
  // No effect in a forked child, where it would run callbacks of the parent's call.
  void RequestStop();

  bool complete() const { return complete_.load(std::memory_order_acquire); }
  // Returns false if the result belongs to the parent of this process, where it will arrive.
  bool CanComplete() const;

  // Wakes waiting threads and runs the continuation on this thread.
  void SetComplete();
  // Blocks until complete. `interrupt` is polled about every 100 ms; when it returns true, this
  // requests a stop once and continues to wait. Same if it throws; the exception is then the error.
  // Returns kInvalidArgument on an I/O thread and in a forked child, unless complete.
  Result<void> Wait(const std::function<bool()>& interrupt);
  // Stores the continuation. Returns false, and stores nothing, if complete or if no result will
  // arrive in this process.
  bool Subscribe(std::function<void()> continuation);
  void Unsubscribe();
  Error ForkError() const;

 private:
  struct Forward {
    std::stop_source source;
    int process;
    void operator()() noexcept;
  };

  const int process_ = CurrentProcess();
  static int CurrentProcess();
  std::stop_source stop_;
  std::optional<std::stop_callback<Forward>> link_;
  Mutex mutex_;
  CondVar completed_;
  std::function<void()> continuation_ PENSTOCK_GUARDED_BY(mutex_);
  std::atomic<bool> complete_{false};
};

template <class T>
struct PendingState : PendingCore {
  // Written before SetComplete, read after it.
  std::optional<Result<T>> result;

  void Complete(Result<T> value) {
    result.emplace(std::move(value));
    SetComplete();
  }
  Result<T> Take() {
    if (!complete()) return ForkError();
    return std::move(*result);
  }
};

// Runs `task` on the executor; null: on this thread. Exceptions are logged and counted.
void RunOn(const CallbackExecutor& executor, std::function<void()> task) noexcept;
// The exception that is being handled, as an error. Logs and counts it.
Error CoroutineError() noexcept;

// What `co_await` uses.
template <class T>
class PendingAwaiter {
 public:
  PendingAwaiter(std::shared_ptr<PendingState<T>> state, CallbackExecutor executor)
      : state_(std::move(state)), executor_(std::move(executor)) {
    if (executor_) alive_ = std::make_shared<std::atomic<bool>>(true);
  }
  PendingAwaiter(const PendingAwaiter&) = delete;
  PendingAwaiter& operator=(const PendingAwaiter&) = delete;
  // A coroutine may be destroyed while it is suspended here.
  ~PendingAwaiter() {
    if (suspended_) state_->Unsubscribe();
    if (alive_) alive_->store(false);
  }

  bool await_ready() const { return !executor_ && (state_->complete() || !state_->CanComplete()); }
  // Not inlined: clang up to 16 may keep local variables of an inlined await_suspend in the frame
  // of the coroutine, which another thread may have destroyed by then (LLVM issue 56301).
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> coroutine) {
    suspended_ = true;
    // Once subscribed, another thread may resume the coroutine and destroy this object.
    const auto state = state_;
    const CallbackExecutor executor = executor_;
    // The executor may run its task after the coroutine was destroyed.
    const auto resume = [coroutine, alive = alive_] {
      if (!alive || alive->load()) coroutine.resume();
    };
    if (state->Subscribe([executor, resume] { RunOn(executor, resume); })) return true;
    if (!executor) return false;
    RunOn(executor, resume);
    return true;
  }
  Result<T> await_resume() {
    suspended_ = false;
    return state_->Take();
  }

 private:
  std::shared_ptr<PendingState<T>> state_;
  CallbackExecutor executor_;
  std::shared_ptr<std::atomic<bool>> alive_;  // False: destroyed. Null: no executor.
  bool suspended_ = false;
};

}  // namespace internal

// One result that arrives later, exactly once. Move-only. Get, Then, Future and co_await each take
// the result, so only one of them may be used.
//
// Threads: a callback of Then and a coroutine continue on the thread that completes the call, which
// is normally an I/O thread. They must not block there: blocking calls of this library return
// kInvalidArgument. With a CallbackExecutor they continue where the executor runs them. If the
// result has already arrived, they continue on the calling thread.
//
// Destruction neither waits nor cancels. Memory that the request refers to (sinks, sources) must
// then live until the call has ended.
//
// After fork(), a result that had not arrived belongs to the parent. In the child, Get, Then,
// Future and co_await return kInvalidArgument immediately.
//
// Thread safety: one thread at a time. Cancel may be called from any thread, also during Get, but
// not during an assignment or the destruction.
template <class T>
class [[nodiscard]] Pending {
 public:
  struct promise_type;

  // An empty Pending, which only can be assigned to or destroyed.
  Pending() = default;
  explicit Pending(std::shared_ptr<internal::PendingState<T>> state) : state_(std::move(state)) {}
  // Returns a Pending that is complete.
  static Pending Of(Result<T> result) {
    auto state = std::make_shared<internal::PendingState<T>>();
    state->Complete(std::move(result));
    return Pending(std::move(state));
  }

  // False after the result was taken, and for an empty Pending.
  bool valid() const { return state_ != nullptr && !taken_; }
  // Returns whether the result has arrived. Requires valid().
  bool ready() const { return state_->complete(); }
  // Asks the call to end soon with kCancelled. Without effect on a call that has ended, and on a
  // coroutine, for an empty Pending, and in a forked child.
  void Cancel() const {
    if (state_ != nullptr) state_->RequestStop();
  }

  // Blocks until the call has ended. `interrupt` is polled about every 100 ms; when it returns
  // true, the call is cancelled, and Get waits for its end. Same if `interrupt` throws: Get returns
  // the exception as an error, and keeps the result for another Get. Returns kInvalidArgument, and
  // keeps the result for later, on an I/O thread (in a callback) if the result has not arrived.
  Result<T> Get(const std::function<bool()>& interrupt = {}) {
    if (!valid()) return Taken();
    PENSTOCK_TRY(state_->Wait(interrupt));
    taken_ = true;
    return state_->Take();
  }

  // Passes the result to `done`, which runs exactly once. Its exceptions are logged and counted,
  // and go no further. `executor`: null, or runs `done`.
  void Then(std::function<void(Result<T>)> done) && { std::move(*this).Then({}, std::move(done)); }
  void Then(CallbackExecutor executor, std::function<void(Result<T>)> done) && {
    // Empty state: `done` receives the error.
    const auto state = TakeState();
    const auto pass = [state, done = std::move(done)] { done(state->Take()); };
    // The state refers to itself here until it is complete.
    if (!state->Subscribe([executor, pass] { internal::RunOn(executor, pass); }))
      internal::RunOn(executor, pass);
  }

  // Returns a future of the result. Its destruction does not wait. Do not wait for it in a
  // callback: unlike Get, it cannot detect that.
  std::future<Result<T>> Future() && {
    const auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    std::move(*this).Then([promise](Result<T> result) { promise->set_value(std::move(result)); });
    return future;
  }

  // For `co_await std::move(pending)`, or co_await of the call itself. The coroutine may be
  // destroyed while it waits, but not while another thread resumes it.
  internal::PendingAwaiter<T> operator co_await() && {
    return internal::PendingAwaiter<T>(TakeState(), {});
  }
  // For `co_await std::move(pending).On(executor)`: the coroutine always continues on the executor.
  // While it waits it may be destroyed on the executor's thread, also after the executor has queued
  // its continuation. Elsewhere, the executor must not run the continuation at the same time.
  internal::PendingAwaiter<T> On(CallbackExecutor executor) && {
    return internal::PendingAwaiter<T>(TakeState(), std::move(executor));
  }

 private:
  static Error Taken() {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "this Pending has no result: it is empty, or its result was taken before");
  }
  // Returns a state with an error if the result was taken before.
  std::shared_ptr<internal::PendingState<T>> TakeState() {
    if (!valid()) return Of(Taken()).state_;
    taken_ = true;
    return state_;
  }

  // Shared with the callback that completes it. Not changed when the result is taken: another
  // thread may read it to cancel.
  std::shared_ptr<internal::PendingState<T>> state_;
  bool taken_ = false;
};

// A coroutine that returns Pending<T> starts at once on the calling thread, and ends with
// `co_return` of a T, an Error or a Result<T>. An exception that leaves the coroutine becomes its
// error (kInternal, or kResourceExhausted for std::bad_alloc). Its local variables are destroyed
// before its result arrives.
template <class T>
struct Pending<T>::promise_type {
  std::shared_ptr<internal::PendingState<T>> state = std::make_shared<internal::PendingState<T>>();

  Pending get_return_object() { return Pending(state); }
  std::suspend_never initial_suspend() noexcept { return {}; }
  void return_value(Result<T> value) { state->result.emplace(std::move(value)); }
  void unhandled_exception() noexcept { state->result.emplace(internal::CoroutineError()); }

  struct Final {
    bool await_ready() const noexcept { return false; }
    [[gnu::noinline]] void await_suspend(
        std::coroutine_handle<promise_type> coroutine) const noexcept {
      const auto ended = std::move(coroutine.promise().state);
      coroutine.destroy();
      ended->SetComplete();
    }
    void await_resume() const noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
};

// A Pending and the callback that completes it, for functions that take a callback.
template <class T>
struct PendingCall {
  Pending<T> pending;
  std::function<void(Result<T>)> done;  // Call it exactly once, on any thread.
  std::stop_token cancel;               // Stopped by Pending::Cancel and by the caller's token.
};

// Returns a Pending that completes when `done` runs. `caller`: a stop request also stops the
// token of the call.
template <class T>
PendingCall<T> MakePending(const std::stop_token& caller = {}) {
  auto state = std::make_shared<internal::PendingState<T>>();
  PendingCall<T> call;
  call.cancel = state->Link(caller);
  call.done = [state](Result<T> result) { state->Complete(std::move(result)); };
  call.pending = Pending<T>(std::move(state));
  return call;
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_PENDING_H_
