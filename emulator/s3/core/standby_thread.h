// A thread that waits for the next task: a second hand for one that has large bodies to work on,
// now and then.
#ifndef PENSTOCK_EMULATOR_S3_CORE_STANDBY_THREAD_H_
#define PENSTOCK_EMULATOR_S3_CORE_STANDBY_THREAD_H_

#include <sys/types.h>

#include <functional>
#include <thread>

#include "penstock/base/mutex.h"

namespace penstock::emulator::s3 {

// Used by one thread, its owner.
class StandbyThread {
 public:
  // Throws std::system_error where no thread is to be had.
  StandbyThread();
  // Waits for the task, if one runs.
  ~StandbyThread();
  StandbyThread(const StandbyThread&) = delete;
  StandbyThread& operator=(const StandbyThread&) = delete;

  // Runs `task`, which must not throw, on the thread. The one before must have been awaited.
  void Begin(std::function<void()> task);
  // Returns when the task has ended and is destroyed.
  void Await();
  // False in a forked child, which has no such thread: nothing else is allowed there, destruction
  // included.
  bool is_here() const;

 private:
  void Run();

  const pid_t pid_;
  Mutex mutex_;
  // at most one thread waits: the owner for the end of a task, or the thread for one
  CondVar changed_;
  std::function<void()> task_ PENSTOCK_GUARDED_BY(mutex_);
  bool has_task_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool end_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_STANDBY_THREAD_H_
