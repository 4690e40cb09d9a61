#include "emulator/http/timers.h"

#include <chrono>
#include <utility>

#include "base/signals_blocked.h"

namespace penstock::emulator::http {

Timers::~Timers() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread.swap(thread_);
  }
  changed_.NotifyAll();
  if (thread.joinable()) thread.join();
  FireAll();
}

void Timers::Add(MonotonicTime when, api::LateAnswer& answer) {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    waits_.push({.when = when, .order = added_++, .answer = &answer});
    first = waits_.top().answer == &answer;
    if (!thread_.joinable()) {
      const SignalsBlocked blocked;  // signals are the program's, not this thread's
      thread_ = std::thread([this] { Run(); });
    }
  }
  if (first) changed_.NotifyAll();
}

void Timers::FireAll() {
  std::vector<api::LateAnswer*> all;
  {
    const MutexLock lock(mutex_);
    for (; !waits_.empty(); waits_.pop()) all.push_back(waits_.top().answer);
  }
  for (api::LateAnswer* answer : all) answer->Give();
}

void Timers::Run() {
  for (;;) {
    std::vector<api::LateAnswer*> due;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && (waits_.empty() || waits_.top().when > std::chrono::steady_clock::now())) {
        if (waits_.empty()) {
          changed_.WaitIdle(mutex_);
        } else {
          changed_.WaitUntil(mutex_, waits_.top().when);
        }
      }
      if (stopping_) return;
      for (const auto now = std::chrono::steady_clock::now(); !waits_.empty() && waits_.top().when <= now; waits_.pop()) {
        due.push_back(waits_.top().answer);
      }
    }
    // Outside of the lock: whoever is given may come back with another wait.
    for (api::LateAnswer* answer : due) answer->Give();
  }
}

}  // namespace penstock::emulator::http
