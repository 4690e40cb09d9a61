#include "penstock/base/pending.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/log/caught.h"
#include "penstock/base/blocking.h"

namespace penstock {
namespace {

bool IsInvalid(const Error& error, const std::string& text) {
  return error.kind == ErrorKind::kInvalidArgument && error.message.find(text) != std::string::npos;
}

TEST(PendingTest, GetReturnsTheResultOfAnotherThread) {
  auto call = MakePending<std::string>();
  EXPECT_FALSE(call.pending.ready());
  std::thread other([&] { call.done(std::string("text")); });
  EXPECT_EQ(call.pending.Get().value(), "text");
  other.join();
  EXPECT_FALSE(call.pending.valid());
  EXPECT_TRUE(IsInvalid(call.pending.Get().error(), "was taken before"));
}

TEST(PendingTest, MoveOnlyResultsAndErrors) {
  auto call = MakePending<std::unique_ptr<int>>();
  call.done(std::make_unique<int>(7));
  EXPECT_TRUE(call.pending.ready());
  EXPECT_EQ(**call.pending.Get(), 7);
  auto failed = Pending<int>::Of(Error::Make(ErrorKind::kNotFound, "none"));
  EXPECT_EQ(failed.Get().error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(IsInvalid(Pending<int>().Get().error(), "is empty"));
}

TEST(PendingTest, InterruptCancelsAndWaits) {
  auto call = MakePending<int>();
  std::atomic<bool> stopped = false;
  const std::stop_callback on_stop(call.cancel, [&] {
    stopped = true;
    call.done(Error::Make(ErrorKind::kCancelled, "stopped"));
  });
  EXPECT_EQ(call.pending.Get([] { return true; }).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(stopped);
}

// The call may use memory of the caller, so Get must not unwind while it is in flight.
TEST(PendingTest, ExceptionOfTheInterruptCancelsAndWaits) {
  auto call = MakePending<int>();
  std::atomic<int> polls = 0;
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!call.cancel.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    ended = true;
    call.done(1);
  });
  const Result<int> result = call.pending.Get([&]() -> bool {
    ++polls;
    throw std::runtime_error("planted");
  });
  EXPECT_TRUE(ended);
  other.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  EXPECT_NE(result.error().message.find("planted"), std::string::npos);
  EXPECT_EQ(polls, 1);
  EXPECT_EQ(call.pending.Get().value(), 1);
}

TEST(PendingTest, CancelAndTheCallersTokenStopTheCall) {
  std::stop_source caller;
  auto linked = MakePending<int>(caller.get_token());
  caller.request_stop();
  EXPECT_TRUE(linked.cancel.stop_requested());
  linked.done(1);
  auto own = MakePending<int>();
  own.pending.Cancel();
  EXPECT_TRUE(own.cancel.stop_requested());
  own.done(1);
}

// ThreadSanitizer sees a race here if taking the result changes what Cancel reads.
TEST(PendingTest, CancelFromAnotherThreadDuringAndAfterGet) {
  for (int i = 0; i < 100; ++i) {
    PendingCall<int> call = MakePending<int>();
    std::atomic<bool> over = false;
    std::thread canceller([&] {
      while (!over) call.pending.Cancel();
    });
    std::thread completer([&] { call.done(i); });
    EXPECT_EQ(call.pending.Get().value(), i);
    EXPECT_FALSE(call.pending.valid());
    over = true;
    canceller.join();
    completer.join();
  }
}

TEST(PendingTest, GetOnAnIoThreadFailsAndKeepsTheResult) {
  auto call = MakePending<int>();
  {
    const IoThreadScope io_thread;
    EXPECT_TRUE(IsInvalid(call.pending.Get().error(), "was called on an I/O thread"));
    call.done(3);
    EXPECT_EQ(call.pending.Get().value(), 3);  // does not block
  }
}

TEST(PendingTest, ThenRunsOnceOnTheCompletingThreadOrAtOnce) {
  auto call = MakePending<int>();
  int runs = 0;
  std::thread::id where;
  std::move(call.pending).Then([&](Result<int> result) {
    runs += *result;
    where = std::this_thread::get_id();
  });
  std::thread other([&] { call.done(1); });
  const std::thread::id expected = other.get_id();
  other.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(where, expected);
  Pending<int>::Of(1).Then([&](Result<int> result) { runs += *result; });
  EXPECT_EQ(runs, 2);
}

TEST(PendingTest, ExceptionsOfContinuationsAreCountedAndGoNoFurther) {
  const std::uint64_t before = CaughtExceptions();
  auto call = MakePending<int>();
  std::move(call.pending).Then([](const Result<int>&) { throw std::runtime_error("planted"); });
  call.done(1);
  Pending<int>::Of(1).Then([](const Result<int>&) { throw std::runtime_error("planted"); });
  EXPECT_EQ(CaughtExceptions(), before + 2);
}

TEST(PendingTest, ExecutorRunsTheContinuation) {
  std::vector<std::function<void()>> queue;
  const CallbackExecutor executor = [&](std::function<void()> task) {
    queue.push_back(std::move(task));
  };
  int value = 0;
  auto call = MakePending<int>();
  std::move(call.pending).Then(executor, [&](Result<int> result) { value = *result; });
  call.done(5);
  EXPECT_EQ(value, 0);
  ASSERT_EQ(queue.size(), 1u);
  queue.front()();
  queue.front()();  // an executor that runs a task twice
  EXPECT_EQ(value, 5);
}

TEST(PendingTest, ExecutorThatThrowsDoesNotLoseTheContinuation) {
  const CallbackExecutor executor = [](std::function<void()>) { throw std::runtime_error("full"); };
  int value = 0;
  Pending<int>::Of(5).Then(executor, [&](Result<int> result) { value += *result; });
  EXPECT_EQ(value, 5);
}

TEST(PendingTest, FutureReceivesTheResult) {
  auto call = MakePending<int>();
  auto future = std::move(call.pending).Future();
  call.done(4);
  EXPECT_EQ(future.get().value(), 4);
}

TEST(PendingTest, DestructionNeitherWaitsNorCancels) {
  auto call = MakePending<int>();
  { const Pending<int> dropped = std::move(call.pending); }
  EXPECT_FALSE(call.cancel.stop_requested());
  call.done(1);
}

// ---- Coroutines ----

struct Destroyed {
  explicit Destroyed(bool& flag) : flag_(flag) {}
  ~Destroyed() { flag_ = true; }
  bool& flag_;
};

Pending<int> AddBoth(Pending<int> a, Pending<int> b, bool& destroyed) {
  const Destroyed guard(destroyed);
  const Result<int> first = co_await std::move(a);
  if (!first.ok()) co_return first.error();
  const Result<int> second = co_await std::move(b);
  if (!second.ok()) co_return second.error();
  co_return *first + *second;
}

TEST(PendingCoroutineTest, AwaitsResultsAndReturnsOne) {
  auto a = MakePending<int>();
  auto b = MakePending<int>();
  bool destroyed = false;
  Pending<int> sum = AddBoth(std::move(a.pending), std::move(b.pending), destroyed);
  a.done(1);
  EXPECT_FALSE(sum.ready());
  std::thread other([&] { b.done(2); });
  EXPECT_EQ(sum.Get().value(), 3);
  EXPECT_TRUE(destroyed) << "local variables are destroyed before the result arrives";
  other.join();
}

TEST(PendingCoroutineTest, ErrorsEndTheCoroutine) {
  bool destroyed = false;
  EXPECT_EQ(AddBoth(Pending<int>::Of(Error::Make(ErrorKind::kTimeout, "late")), Pending<int>::Of(1),
                    destroyed)
                .Get()
                .error()
                .kind,
            ErrorKind::kTimeout);
  EXPECT_TRUE(destroyed);
}

Pending<int> Throws(Pending<int> first) {
  static_cast<void>(co_await std::move(first));
  throw std::runtime_error("planted");
}

TEST(PendingCoroutineTest, ExceptionBecomesTheError) {
  auto call = MakePending<int>();
  Pending<int> result = Throws(std::move(call.pending));
  call.done(1);
  const Error error = result.Get().error();
  EXPECT_EQ(error.kind, ErrorKind::kInternal);
  EXPECT_NE(error.message.find("planted"), std::string::npos);
}

Pending<std::thread::id> ThreadAfter(Pending<int> call, CallbackExecutor executor) {
  static_cast<void>(co_await std::move(call).On(std::move(executor)));
  co_return std::this_thread::get_id();
}

TEST(PendingCoroutineTest, ContinuesOnTheExecutorAlsoIfComplete) {
  std::thread::id expected;
  std::vector<std::thread> threads;
  const CallbackExecutor executor = [&](std::function<void()> task) {
    threads.emplace_back(std::move(task));
    expected = threads.back().get_id();
  };
  auto call = MakePending<int>();
  auto later = ThreadAfter(std::move(call.pending), executor);
  call.done(1);
  threads.back().join();
  EXPECT_EQ(later.Get().value(), expected);
  auto complete = ThreadAfter(Pending<int>::Of(1), executor);
  threads.back().join();
  EXPECT_EQ(complete.Get().value(), expected);
}

// A coroutine type of a program, which destroys its frame while it waits.
struct Frame {
  struct promise_type {
    Frame get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

Frame WaitFor(Pending<int> call, bool& resumed) {
  static_cast<void>(co_await std::move(call));
  resumed = true;
}
Frame WaitOn(Pending<int> call, CallbackExecutor executor, bool& resumed) {
  static_cast<void>(co_await std::move(call).On(std::move(executor)));
  resumed = true;
}

TEST(PendingCoroutineTest, SuspendedCoroutineCanBeDestroyed) {
  auto call = MakePending<int>();
  bool resumed = false;
  const Frame frame = WaitFor(std::move(call.pending), resumed);
  frame.handle.destroy();
  call.done(1);
  EXPECT_FALSE(resumed);
}

TEST(PendingCoroutineTest, CanBeDestroyedAfterTheExecutorQueuedIt) {
  std::vector<std::function<void()>> queue;
  const CallbackExecutor executor = [&](std::function<void()> task) {
    queue.push_back(std::move(task));
  };
  bool resumed = false;
  auto call = MakePending<int>();
  const Frame waits = WaitOn(std::move(call.pending), executor, resumed);
  call.done(1);
  const Frame was_complete = WaitOn(Pending<int>::Of(1), executor, resumed);
  ASSERT_EQ(queue.size(), 2u);
  waits.handle.destroy();
  was_complete.handle.destroy();
  for (const auto& task : queue) task();
  EXPECT_FALSE(resumed);
}

// ---- fork ----

// Returns the exit status of a forked child, or -1 if a signal ended it.
int StatusOfChild(const std::function<int()>& work) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PendingForkTest, ChildGetsAnErrorFromEveryForm) {
  std::vector<PendingCall<int>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(MakePending<int>());
  auto complete = Pending<int>::Of(9);
  EXPECT_EQ(StatusOfChild([&] {
              const auto refused = [](const Result<int>& result) {
                return !result.ok() && IsInvalid(result.error(), "cannot be used after fork()");
              };
              bool then = false;
              bool destroyed = false;
              std::move(calls[1].pending).Then([&](Result<int> r) { then = refused(r); });
              const bool all = refused(calls[0].pending.Get()) && then &&
                               refused(std::move(calls[2].pending).Future().get()) &&
                               refused(AddBoth(std::move(calls[3].pending), {}, destroyed).Get()) &&
                               complete.Get().value() == 9;
              calls.clear();
              return all ? 0 : 1;
            }),
            0);
  for (auto& call : calls) {
    call.done(1);
    EXPECT_EQ(call.pending.Get().value(), 1);
  }
}

TEST(PendingForkTest, ChildCannotCancelTheCallOfTheParent) {
  std::stop_source caller;
  auto call = MakePending<int>(caller.get_token());
  bool stopped = false;
  const std::stop_callback on_stop(call.cancel, [&] { stopped = true; });
  EXPECT_EQ(StatusOfChild([&] {
              call.pending.Cancel();
              caller.request_stop();
              return stopped ? 1 : 0;
            }),
            0);
  EXPECT_FALSE(call.cancel.stop_requested());
  caller.request_stop();
  EXPECT_TRUE(stopped);
  call.done(1);
}

}  // namespace
}  // namespace penstock
