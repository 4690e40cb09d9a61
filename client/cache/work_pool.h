// The threads of a process that do the file operations of its caches, and the list of what waits
// for another download.
#ifndef PENSTOCK_CLIENT_CACHE_WORK_POOL_H_
#define PENSTOCK_CLIENT_CACHE_WORK_POOL_H_

#include <chrono>
#include <deque>
#include <functional>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::cache {

// Threads start at the first use and never end. Work runs on threads that are marked as I/O
// threads: it must not wait for the network. Its exceptions are logged.
//
// Thread safety: any thread.
class WorkPool {
 public:
  static WorkPool& PerProcess();

  // Runs `work` soon. Returns false if no thread could start; `work` was then not taken.
  bool Submit(std::function<void()> work);
  // Submits `resume` once `ready` returns true. `ready` is called at every Poke, and at intervals
  // that grow from 1 ms to 20 ms. It must be quick. Returns false as Submit does.
  bool When(std::function<bool()> ready, std::function<void()> resume);
  // Something that a `ready` depends on has changed.
  void Poke();

 private:
  struct Waiting {
    std::function<bool()> ready;
    std::function<void()> resume;
    MonotonicTime next;
    std::chrono::milliseconds interval;
  };

  bool StartThread(void (WorkPool::*loop)()) PENSTOCK_REQUIRES(mutex_);
  void Work();
  void Watch();
  // Moves what is ready to the queue. Returns when to look again.
  MonotonicTime CheckWaiting(bool all);

  Mutex mutex_;
  CondVar work_added_;
  CondVar poked_;
  std::deque<std::function<void()>> queue_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<Waiting> added_ PENSTOCK_GUARDED_BY(mutex_);
  bool poke_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int threads_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int idle_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool watching_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::vector<Waiting> waiting_;  // of the watching thread
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_WORK_POOL_H_
