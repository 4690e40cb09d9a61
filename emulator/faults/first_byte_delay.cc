#include "emulator/faults/first_byte_delay.h"

#include <deque>
#include <thread>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {
namespace {

using Moment = std::chrono::steady_clock::time_point;

// Gives each promise when its time has come. All wait equally long, so the first in is the first out.
class Waiting {
 public:
  Waiting() : thread_([this] { Run(); }) {}
  ~Waiting() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void Add(Moment when, api::PendingAnswer answer) {
    {
      const MutexLock lock(mutex_);
      held_.push_back({when, std::move(answer)});
    }
    changed_.NotifyAll();
  }

 private:
  struct Held {
    Moment when;
    api::PendingAnswer answer;
  };

  void Run() {
    for (;;) {
      std::deque<Held> due;
      {
        const MutexLock lock(mutex_);
        while (!stopping_ && (held_.empty() || held_.front().when > std::chrono::steady_clock::now())) {
          if (held_.empty()) {
            changed_.WaitIdle(mutex_);
          } else {
            changed_.WaitUntil(mutex_, held_.front().when);
          }
        }
        if (stopping_ && held_.empty()) return;
        const Moment now = stopping_ ? Moment::max() : std::chrono::steady_clock::now();
        while (!held_.empty() && held_.front().when <= now) {
          due.push_back(std::move(held_.front()));
          held_.pop_front();
        }
      }
      // Given outside the lock, as `due` goes: the wire may call back.
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<Held> held_ PENSTOCK_GUARDED_BY(mutex_);
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

class FirstByteDelay final : public api::Handler {
 public:
  FirstByteDelay(std::chrono::milliseconds delay, api::Handler& next) : delay_(delay), next_(next) {}

  void Handle(api::Exchange& exchange) override {
    const bool delayed = exchange.request.method == "GET" || exchange.request.method == "HEAD";
    next_.Handle(exchange);
    if (!delayed || exchange.pending) return;
    if (exchange.late == nullptr) return std::this_thread::sleep_for(delay_);
    waiting_.Add(std::chrono::steady_clock::now() + delay_, exchange.AnswerLater());
  }

 private:
  const std::chrono::milliseconds delay_;
  api::Handler& next_;
  Waiting waiting_;
};

// Without a delay nothing stands between the others, and no thread is started.
class NoDelay final : public api::Handler {
 public:
  explicit NoDelay(api::Handler& next) : next_(next) {}
  void Handle(api::Exchange& exchange) override { next_.Handle(exchange); }

 private:
  api::Handler& next_;
};

}  // namespace

std::unique_ptr<api::Handler> MakeFirstByteDelay(std::chrono::milliseconds delay, api::Handler& next) {
  if (delay.count() == 0) return std::make_unique<NoDelay>(next);
  return std::make_unique<FirstByteDelay>(delay, next);
}

}  // namespace penstock::emulator::faults
