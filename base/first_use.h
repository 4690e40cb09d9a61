// A pointer that is computed at its first use, for functions that a forked
// child may call.
#ifndef PENSTOCK_BASE_FIRST_USE_H_
#define PENSTOCK_BASE_FIRST_USE_H_

#include <atomic>

namespace penstock {

// Instead of a local static: the guard of one that another thread initialises
// at the moment of a fork stays locked in the child for ever. `make` may run
// more than once, in threads that come at the same time; each of its results
// must be as good as any other, never null, and live for ever. Thread safety:
// any thread.
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
