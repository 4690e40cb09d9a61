#include "client/transfer/upload/late_cleanup.h"

#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals_blocked.h"
#include "client/memory/per_process.h"
#include "penstock/base/blocking.h"
#include "penstock/base/mutex.h"

namespace penstock::transfer {
namespace {

// The cleanups of one process that are under way.
class UnderWay {
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

// Kept per process, so a forked child does not wait for its parent's, and never destroyed: a
// cleanup may end while the process does.
UnderWay& Mine() {
  static memory::PerProcess<UnderWay> processes;
  // The handler is registered after what the cleanups use was made, so it runs before that is
  // destroyed. Running it again, for a parent or for another thread that was here at the same time,
  // does nothing.
  return processes.Mine([](const UnderWay*) {
    std::atexit([] { Mine().AwaitAll(); });
    return new UnderWay;
  });
}

// What one cleanup and whoever waits for it share.
struct Watched {
  Mutex mutex;
  CondVar changed;
  bool over PENSTOCK_GUARDED_BY(mutex) = false;
};

}  // namespace

bool RunCleanup(std::function<void()> task, std::chrono::milliseconds patience) {
  UnderWay& under_way = Mine();
  auto watched = std::make_shared<Watched>();
  under_way.Begin();
  try {
    const SignalsBlocked blocked;
    std::thread([&under_way, watched, task]() mutable {
      task();
      task = nullptr;  // what it owned ends before it counts as ended
      {
        const MutexLock lock(watched->mutex);
        watched->over = true;
        watched->changed.NotifyAll();
      }
      under_way.End();
    }).detach();
  } catch (const std::system_error&) {
    const bool may_run_here = !OnIoThread();
    if (may_run_here) task();
    under_way.End();
    return may_run_here;
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  const MutexLock lock(watched->mutex);
  while (!watched->over && watched->changed.WaitUntil(watched->mutex, until)) {
  }
  return watched->over;
}

}  // namespace penstock::transfer
