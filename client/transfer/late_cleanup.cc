#include "client/transfer/late_cleanup.h"

#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"
#include "client/memory/per_process.h"
#include "penstock/base/blocking.h"
#include "penstock/base/mutex.h"

namespace penstock::transfer {
namespace {

constinit DiagnosticEvent thread_not_started("transfer.cleanup_thread_not_started");

// Counts the running cleanups of one process.
class RunningCleanups {
 public:
  void Begin() {
    const MutexLock lock(mutex_);
    ++count_;
  }
  void End() {
    const MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }
  void AwaitAll() {
    const MutexLock lock(mutex_);
    while (count_ > 0) none_.WaitIdle(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar none_;
  int count_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

// Per process, so that a forked child does not wait for cleanups of its parent. Never destroyed,
// because a cleanup may end during process exit.
RunningCleanups& OfThisProcess() {
  static constinit memory::PerProcess<RunningCleanups> processes;
  // The exit handler is registered after the objects that cleanups use were created, so it runs
  // before they are destroyed. Running it twice, for a parent or a concurrent thread, is
  // harmless.
  return processes.Mine([](const RunningCleanups*) {
    std::atexit([] { OfThisProcess().AwaitAll(); });
    return new RunningCleanups;
  });
}

// State shared by one cleanup and the thread that waits for it.
struct CleanupState {
  Mutex mutex;
  CondVar changed;
  bool over PENSTOCK_GUARDED_BY(mutex) = false;
};

}  // namespace

bool RunCleanup(std::function<void()> task, std::chrono::milliseconds max_wait) {
  RunningCleanups& running = OfThisProcess();
  auto state = std::make_shared<CleanupState>();
  running.Begin();
  try {
    const SignalsBlocked blocked;
    std::thread([&running, state, task]() mutable {
      task();
      task = nullptr;  // destroys what the task owns before it counts as ended
      {
        const MutexLock lock(state->mutex);
        state->over = true;
        state->changed.NotifyAll();
      }
      running.End();
    }).detach();
  } catch (const std::system_error& error) {
    thread_not_started.Report(error.what());
    const bool may_run_here = !OnIoThread();
    if (may_run_here) task();
    running.End();
    return may_run_here;
  }
  const auto until = std::chrono::steady_clock::now() + max_wait;
  const MutexLock lock(state->mutex);
  while (!state->over && state->changed.WaitUntil(state->mutex, until)) {
  }
  return state->over;
}

}  // namespace penstock::transfer
