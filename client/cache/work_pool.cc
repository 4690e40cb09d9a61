#include "client/cache/work_pool.h"

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log/caught.h"
#include "base/signals_blocked.h"
#include "client/memory/per_process.h"
#include "penstock/base/blocking.h"

namespace penstock::cache {
namespace {

constexpr std::chrono::milliseconds kFirstInterval{1};
constexpr std::chrono::milliseconds kLongestInterval{20};
constexpr int kMaxThreads = 16;
constexpr std::string_view kTask = "a task of the node cache";

int MaxThreads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, kMaxThreads);
}

}  // namespace

WorkPool& WorkPool::PerProcess() {
  static constinit memory::PerProcess<WorkPool> pools;
  return pools.Mine([](WorkPool*) { return new WorkPool; });
}

bool WorkPool::StartThread(void (WorkPool::*loop)()) {
  const SignalsBlocked blocked;
  return Caught("the start of a thread of the node cache",
                [&] { std::thread([this, loop] { (this->*loop)(); }).detach(); })
      .ok();
}

bool WorkPool::Submit(std::function<void()> work) {
  const MutexLock lock(mutex_);
  const bool all_busy = queue_.size() >= static_cast<std::size_t>(idle_);
  if (all_busy && threads_ < MaxThreads() && StartThread(&WorkPool::Work)) ++threads_;
  if (threads_ == 0) return false;
  queue_.push_back(std::move(work));
  work_added_.NotifyOne();
  return true;
}

bool WorkPool::When(std::function<bool()> ready, std::function<void()> resume) {
  const MutexLock lock(mutex_);
  if (!watching_) watching_ = StartThread(&WorkPool::Watch);
  if (!watching_) return false;
  added_.push_back({std::move(ready), std::move(resume), MonotonicTime(), kFirstInterval});
  poke_ = true;
  poked_.NotifyOne();
  return true;
}

void WorkPool::Poke() {
  const MutexLock lock(mutex_);
  poke_ = true;
  poked_.NotifyOne();
}

void WorkPool::Work() {
  const IoThreadScope io_thread;
  for (;;) {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      ++idle_;
      while (queue_.empty()) work_added_.WaitIdle(mutex_);
      --idle_;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    Contain(kTask, work);
  }
}

void WorkPool::Watch() {
  MonotonicTime next = MonotonicTime::max();
  for (;;) {
    bool all = false;
    {
      const MutexLock lock(mutex_);
      while (!poke_ && (waiting_.empty() || SystemClock().Monotonic() < next)) {
        if (waiting_.empty()) poked_.WaitIdle(mutex_);
        else poked_.WaitUntil(mutex_, next);
      }
      all = std::exchange(poke_, false);
      std::ranges::move(added_, std::back_inserter(waiting_));
      added_.clear();
    }
    next = CheckWaiting(all);
  }
}

MonotonicTime WorkPool::CheckWaiting(bool all) {
  const MonotonicTime now = SystemClock().Monotonic();
  MonotonicTime next = MonotonicTime::max();
  std::erase_if(waiting_, [&](Waiting& waiting) {
    if (all || now >= waiting.next) {
      const auto ready = Caught(kTask, [&]() -> Result<bool> { return waiting.ready(); });
      if (!ready.ok() || *ready) return Submit(std::move(waiting.resume));
      if (now >= waiting.next) {
        waiting.next = now + waiting.interval;
        waiting.interval = std::min(waiting.interval * 2, kLongestInterval);
      }
    }
    next = std::min(next, waiting.next);
    return false;
  });
  return next;
}

}  // namespace penstock::cache
