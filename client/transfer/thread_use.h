// What one thread uses while it receives bytes.
#ifndef PENSTOCK_CLIENT_TRANSFER_THREAD_USE_H_
#define PENSTOCK_CLIENT_TRANSFER_THREAD_USE_H_

#include <chrono>
#include <thread>

#include "penstock/base/clock.h"

namespace penstock::transfer {

struct ThreadUse {
  std::chrono::nanoseconds cpu{};
  std::chrono::nanoseconds elapsed{};
};

// Measures one thread from a point on. Without a start it measures nothing.
class ThreadMeter {
 public:
  // Starts on the calling thread.
  static ThreadMeter Start();

  // Returns what the thread has used since the start; zeros if another thread calls.
  ThreadUse Used() const;

 private:
  std::thread::id thread_;
  std::chrono::nanoseconds cpu_{};
  MonotonicTime began_{};
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_THREAD_USE_H_
