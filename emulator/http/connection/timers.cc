#include "emulator/http/connection/timers.h"

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

void Timers::Add(MonotonicTime when, message::AsyncResponse& response) {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    if (!thread_.joinable()) {
      const SignalsBlocked blocked;  // signals are handled by the program's own threads
      thread_ = std::thread([this] { Run(); });
    }
    // The last step: if it throws for lack of memory, the caller keeps its response.
    waits_.push({.when = when, .order = added_++, .response = &response});
    first = waits_.top().response == &response;
  }
  if (first) changed_.NotifyAll();
}

void Timers::FireAll() {
  decltype(waits_) all;  // without those that are added during the loop
  {
    const MutexLock lock(mutex_);
    std::swap(all, waits_);
  }
  for (; !all.empty(); all.pop()) all.top().response->Complete();
}

void Timers::Run() {
  for (;;) {
    message::AsyncResponse* due = nullptr;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ &&
             (waits_.empty() || waits_.top().when > std::chrono::steady_clock::now())) {
        if (waits_.empty()) {
          changed_.WaitIdle(mutex_);
        } else {
          changed_.WaitUntil(mutex_, waits_.top().when);
        }
      }
      if (stopping_) return;
      due = waits_.top().response;
      waits_.pop();
    }
    // Outside the lock: the receiver may add another wait.
    due->Complete();
  }
}

}  // namespace penstock::emulator::http
