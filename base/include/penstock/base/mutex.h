// A mutex with annotations for clang's thread-safety analysis (-Wthread-safety, part of the lint).
#ifndef PENSTOCK_BASE_MUTEX_H_
#define PENSTOCK_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "penstock/base/export.h"

#if defined(__clang__)
#define PENSTOCK_TSA_(x) __attribute__((x))
#else
#define PENSTOCK_TSA_(x)
#endif

#define PENSTOCK_GUARDED_BY(x) PENSTOCK_TSA_(guarded_by(x))
#define PENSTOCK_PT_GUARDED_BY(x) PENSTOCK_TSA_(pt_guarded_by(x))
#define PENSTOCK_REQUIRES(...) PENSTOCK_TSA_(requires_capability(__VA_ARGS__))
#define PENSTOCK_EXCLUDES(...) PENSTOCK_TSA_(locks_excluded(__VA_ARGS__))
#define PENSTOCK_NO_THREAD_SAFETY_ANALYSIS PENSTOCK_TSA_(no_thread_safety_analysis)

namespace PENSTOCK_EXPORT penstock {

class PENSTOCK_TSA_(capability("mutex")) Mutex {
 public:
  void Lock() PENSTOCK_TSA_(acquire_capability()) { mutex_.lock(); }
  void Unlock() PENSTOCK_TSA_(release_capability()) { mutex_.unlock(); }
  bool TryLock() PENSTOCK_TSA_(try_acquire_capability(true)) { return mutex_.try_lock(); }
  // For std::unique_lock in CondVar only.
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class PENSTOCK_TSA_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PENSTOCK_TSA_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() PENSTOCK_TSA_(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Condition variable for a Mutex. Every wait takes a time point, so that callers check their
// condition and their deadline in a loop.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  // Returns false if `until` has passed. Spurious wake-ups happen. `mutex` is held on entry and on
  // return.
  template <class TimePoint>
  bool WaitUntil(Mutex& mutex, TimePoint until)
      PENSTOCK_REQUIRES(mutex) PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, until) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

  // Waits without a deadline. Only for a thread that serves one queue and whose owner notifies it
  // on shutdown.
  void WaitIdle(Mutex& mutex) PENSTOCK_REQUIRES(mutex) PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_MUTEX_H_
