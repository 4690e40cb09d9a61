#include "emulator/message/standby_thread.h"

#include <unistd.h>

#include <utility>

#include "base/signals_blocked.h"

namespace penstock::emulator::message {

StandbyThread::StandbyThread() : pid_(::getpid()) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Run(); });
}

StandbyThread::~StandbyThread() {
  {
    const MutexLock lock(mutex_);
    end_ = true;
  }
  changed_.NotifyOne();
  thread_.join();
}

bool StandbyThread::is_here() const { return ::getpid() == pid_; }

void StandbyThread::Begin(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    task_ = std::move(task);
    has_task_ = true;
  }
  changed_.NotifyOne();
}

void StandbyThread::Await() {
  const MutexLock lock(mutex_);
  while (has_task_) changed_.WaitIdle(mutex_);
}

void StandbyThread::Run() {
  for (;;) {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      while (!has_task_ && !end_) changed_.WaitIdle(mutex_);
      if (!has_task_) return;
      task = std::exchange(task_, nullptr);
    }
    task();
    task = nullptr;
    {
      const MutexLock lock(mutex_);
      has_task_ = false;
    }
    changed_.NotifyOne();
  }
}

}  // namespace penstock::emulator::message
