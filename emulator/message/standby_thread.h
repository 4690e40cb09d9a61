// A helper thread that runs one task at a time for its owner, for example to hash a large body.
#ifndef PENSTOCK_EMULATOR_MESSAGE_STANDBY_THREAD_H_
#define PENSTOCK_EMULATOR_MESSAGE_STANDBY_THREAD_H_

#include <sys/types.h>

#include <functional>
#include <thread>

#include "penstock/base/mutex.h"

namespace penstock::emulator::message {

// Thread safety: used by one thread, the owner.
class StandbyThread {
 public:
  // Throws std::system_error if the thread cannot be created.
  StandbyThread();
  // Waits for the running task, if any.
  ~StandbyThread();
  StandbyThread(const StandbyThread&) = delete;
  StandbyThread& operator=(const StandbyThread&) = delete;

  // Runs `task` on the thread. `task` must not throw. The owner must have awaited the previous
  // task.
  void Begin(std::function<void()> task);
  // Returns once the task has ended and has been destroyed.
  void Await();
  // False in a forked child, which does not have the thread. No other call is allowed there, not
  // even destruction.
  bool is_here() const;

 private:
  void Run();

  const pid_t pid_;
  Mutex mutex_;
  // Signals the end of a task to the owner, or a new task to the thread. At most one of them waits.
  CondVar changed_;
  std::function<void()> task_ PENSTOCK_GUARDED_BY(mutex_);
  bool has_task_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool end_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_STANDBY_THREAD_H_
