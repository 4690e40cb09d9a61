#include "client/transfer/late_cleanup.h"

#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "base/log/caught.h"
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

// One cleanup, shared by its thread and the caller that waits for it.
class Cleanup {
 public:
  // Moves from `task` only if it returns normally.
  explicit Cleanup(std::function<void()>& task) : running_(OfThisProcess()) {
    running_.Begin();
    task_ = std::move(task);
  }

  void Run() {
    Contain("a cleanup", task_);
    End();
  }

  void End() {
    task_ = nullptr;  // destroys what the task owns before it counts as ended
    {
      const MutexLock lock(mutex_);
      over_ = true;
      changed_.NotifyAll();
    }
    running_.End();
  }

  // Returns whether the cleanup ended within `max_wait`.
  bool Await(std::chrono::milliseconds max_wait) {
    const auto until = std::chrono::steady_clock::now() + max_wait;
    const MutexLock lock(mutex_);
    while (!over_ && changed_.WaitUntil(mutex_, until)) {
    }
    return over_;
  }

 private:
  RunningCleanups& running_;
  std::function<void()> task_;  // Of the thread that runs the cleanup.
  Mutex mutex_;
  CondVar changed_;
  bool over_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace

bool RunCleanup(std::function<void()> task, std::chrono::milliseconds max_wait) {
  std::shared_ptr<Cleanup> cleanup;
  try {
    cleanup = std::make_shared<Cleanup>(task);
    const SignalsBlocked blocked;
    std::thread([cleanup] { cleanup->Run(); }).detach();
  } catch (const std::exception& error) {
    thread_not_started.Report(error.what());
    const bool may_run_here = !OnIoThread();
    if (cleanup == nullptr) {
      if (may_run_here) Contain("a cleanup", task);
    } else if (may_run_here) {
      cleanup->Run();
    } else {
      cleanup->End();
    }
    return may_run_here;
  }
  return cleanup->Await(max_wait);
}

}  // namespace penstock::transfer
