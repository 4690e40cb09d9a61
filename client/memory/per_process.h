// One object per process, made at first use and never destroyed; a forked child makes its own
// (decision 0007).
#ifndef PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_
#define PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_

#include <atomic>

#include "base/process_id.h"

namespace penstock::memory {

// Thread safety: safe from any thread, also in a forked child. Takes no lock, since a fork could
// copy it taken.
template <class T>
class PerProcess {
 public:
  // make(of_parent) gives a new T. `of_parent`: what the parent had at the fork, whose locks may be
  // taken; null: nothing.
  template <class Make>
  T& Mine(Make make) {
    const int process = ProcessId();
    Entry* seen = current_.load(std::memory_order_acquire);
    while (seen == nullptr || seen->process != process) {
      auto* made = new Entry{process, make(seen != nullptr ? seen->object : nullptr), seen};
      if (current_.compare_exchange_strong(seen, made, std::memory_order_acq_rel))
        return *made->object;
      delete made->object;  // another thread was first
      delete made;
    }
    return *seen->object;
  }

 private:
  struct Entry {
    int process;
    T* object;
    Entry* of_parent;  // never touched again, but reachable for leak checkers
  };
  std::atomic<Entry*> current_{nullptr};
};

}  // namespace penstock::memory

#endif  // PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_
