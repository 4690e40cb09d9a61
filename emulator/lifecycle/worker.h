// The background thread of the lifecycle runs. It sleeps until a namespace's next midnight.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_WORKER_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_WORKER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "penstock/base/mutex.h"

namespace penstock::emulator::lifecycle {

// Thread safety: any thread.
class Worker {
 public:
  // A namespace.
  class Member {
   public:
    virtual ~Member() = default;
    // Time on the machine's clock until a run is due; zero: now; nullopt: not before the next call
    // of Wake.
    virtual std::optional<std::chrono::nanoseconds> UntilRun() = 0;
    // Runs the rules. `cancelled` returns true once the worker stops.
    virtual void RunDue(const std::function<bool()>& cancelled) = 0;
  };
  using Members = std::function<std::vector<std::shared_ptr<Member>>()>;

  // Starts the thread. `members` is called on it.
  explicit Worker(Members members);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // A namespace was opened, or its clock was changed.
  void Wake();
  // Cancels the current run and prevents further ones. The destructor joins the thread.
  void Stop();

 private:
  void Work();
  // Runs what is due. Returns the time until the next run, at most kLongestWait.
  std::chrono::nanoseconds RunMembers();

  const Members members_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  CondVar changed_;
  bool woken_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_WORKER_H_
