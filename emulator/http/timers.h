// Gives answers that wait for a time.
#ifndef PENSTOCK_EMULATOR_HTTP_TIMERS_H_
#define PENSTOCK_EMULATOR_HTTP_TIMERS_H_

#include <cstdint>
#include <queue>
#include <thread>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::http {

// Its thread starts with the first wait.
//
// Thread safety: any thread.
class Timers {
 public:
  Timers() = default;
  ~Timers();  // FireAll
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Calls answer.Complete() at `when` or soon after, once, from a thread of its own. `answer` lives
  // until then.
  void Add(MonotonicTime when, s3::AsyncResponse& answer);
  // Gives all that wait, from this thread.
  void FireAll();

 private:
  struct Wait {
    MonotonicTime when;
    std::uint64_t order = 0;  // of coming: equal times are given in it
    s3::AsyncResponse* answer = nullptr;
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

#endif  // PENSTOCK_EMULATOR_HTTP_TIMERS_H_
