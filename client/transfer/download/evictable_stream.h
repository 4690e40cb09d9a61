// The memory that a stream can give up, registered with the process's memory budget.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_EVICTABLE_STREAM_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_EVICTABLE_STREAM_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "penstock/base/mutex.h"
#include "penstock/memory.h"

namespace penstock::transfer {

// The budget may keep a reference for a short time after the stream is destroyed.
//
// Thread safety: safe from any thread.
class EvictableStream final : public MemoryBudget::Evictable {
 public:
  explicit EvictableStream(std::function<std::uint64_t(std::uint64_t)> give_up)
      : give_up_(std::move(give_up)) {}

  // Runs under the lock, which keeps the stream alive meanwhile. No caller waits for this lock
  // while it holds another one.
  std::uint64_t GiveUp(std::uint64_t bytes) override {
    const MutexLock lock(mutex_);
    return give_up_ ? give_up_(bytes) : 0;
  }

  // The stream is not used after this returns.
  void Detach() {
    const MutexLock lock(mutex_);
    give_up_ = nullptr;
  }

 private:
  Mutex mutex_;
  std::function<std::uint64_t(std::uint64_t)> give_up_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_EVICTABLE_STREAM_H_
