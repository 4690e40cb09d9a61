// One object per process, created at first use and never destroyed. A forked child creates its own
// (docs/decisions/0007).
#ifndef PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_
#define PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_

#include <atomic>

#include "base/process_id.h"

namespace penstock::memory {

// Thread safety: any thread, also in a forked child. Uses no lock, because a fork could copy a held
// lock.
template <class T>
class PerProcess {
 public:
  // Returns the object of this process. If there is none, make(of_parent) returns a new T.
  // `of_parent` is the object of the parent at the fork, whose locks may be held, or null.
  template <class Make>
  T& Mine(Make make) {
    const int process = ProcessId();
    Entry* seen = current_.load(std::memory_order_acquire);
    while (seen == nullptr || seen->process != process) {
      auto* made = new Entry{process, make(seen != nullptr ? seen->object : nullptr), seen};
      if (current_.compare_exchange_strong(seen, made, std::memory_order_acq_rel))
        return *made->object;
      delete made->object;  // another thread was faster
      delete made;
    }
    return *seen->object;
  }

 private:
  struct Entry {
    int process;
    T* object;
    Entry* of_parent;  // never used again, but reachable for leak checkers
  };
  std::atomic<Entry*> current_{nullptr};
};

}  // namespace penstock::memory

#endif  // PENSTOCK_CLIENT_MEMORY_PER_PROCESS_H_
