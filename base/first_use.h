// A pointer that is computed at first use, for functions that a forked child may call.
#ifndef PENSTOCK_BASE_FIRST_USE_H_
#define PENSTOCK_BASE_FIRST_USE_H_

#include <atomic>

namespace penstock {

// Replaces a local static. If another thread initializes a local static during a fork, its guard
// stays locked in the child forever. `make` may run more than once, in concurrent threads. Each
// result must be equivalent, never null, and never freed. Thread safety: any thread.
template <class Pointer>
class FirstUse {
 public:
  template <class Make>
  Pointer Get(Make make) {
    Pointer value = value_.load(std::memory_order_acquire);
    if (value != nullptr) return value;
    value = make();
    value_.store(value, std::memory_order_release);
    return value;
  }

 private:
  std::atomic<Pointer> value_{nullptr};
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_FIRST_USE_H_
