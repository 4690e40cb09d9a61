#include "client/transfer/late_cleanup.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals_blocked.h"
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

  const ::pid_t pid = ::getpid();

 private:
  Mutex mutex_;
  CondVar none_;
  int count_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: a cleanup may end while the process does. A forked child counts its own and leaves the copy alone, whose
// lock may be taken.
UnderWay& Mine() {
  static std::atomic<UnderWay*> current{nullptr};
  UnderWay* seen = current.load(std::memory_order_acquire);
  if (seen != nullptr && seen->pid == ::getpid()) return *seen;
  auto* made = new UnderWay;
  if (!current.compare_exchange_strong(seen, made, std::memory_order_acq_rel)) {
    delete made;
    return *current.load(std::memory_order_acquire);
  }
  // After what the cleanups use was made, so before that is destroyed. The child inherits the registration.
  static const int registered = std::atexit([] {
    UnderWay* const last = current.load(std::memory_order_acquire);
    if (last->pid == ::getpid()) last->AwaitAll();
  });
  static_cast<void>(registered);
  return *made;
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
    task();
    under_way.End();
    return true;
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  const MutexLock lock(watched->mutex);
  while (!watched->over && watched->changed.WaitUntil(watched->mutex, until)) {
  }
  return watched->over;
}

}  // namespace penstock::transfer
