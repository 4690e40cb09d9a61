// A counter that limits concurrent uses of a resource.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_CONCURRENCY_LIMIT_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_CONCURRENCY_LIMIT_H_

#include <atomic>
#include <memory>

namespace penstock::emulator::server {

// Thread safety: any thread.
class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(int limit) : free_(limit) {}

  // Returns null when the limit is reached. The last copy of the pointer ends the use. This object
  // must outlive it.
  std::shared_ptr<void> Take() {
    int free = free_.load(std::memory_order_relaxed);
    do {
      if (free == 0) return nullptr;
    } while (!free_.compare_exchange_weak(free, free - 1, std::memory_order_relaxed));
    return {this, [this](void*) { free_.fetch_add(1, std::memory_order_relaxed); }};
  }

 private:
  std::atomic<int> free_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_CONCURRENCY_LIMIT_H_
