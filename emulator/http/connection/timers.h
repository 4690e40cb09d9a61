// Completes responses at a given time.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_TIMERS_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_TIMERS_H_

#include <cstdint>
#include <queue>
#include <thread>
#include <vector>

#include "emulator/message/exchange.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {

// Its thread starts with the first Add.
//
// Thread safety: any thread.
class Timers {
 public:
  Timers() = default;
  ~Timers();  // FireAll
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Calls response.Complete() once, at `when` or soon after, on the timer thread. `response` must
  // live until then.
  void Add(MonotonicTime when, message::AsyncResponse& response);
  // Completes all waiting responses on the calling thread.
  void FireAll();

 private:
  struct Wait {
    MonotonicTime when;
    std::uint64_t order = 0;  // of Add; breaks ties of equal times
    message::AsyncResponse* response = nullptr;
    bool operator>(const Wait& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  void Run();

  Mutex mutex_;
  CondVar changed_;
  std::priority_queue<Wait, std::vector<Wait>, std::greater<>> waits_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t added_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_TIMERS_H_
