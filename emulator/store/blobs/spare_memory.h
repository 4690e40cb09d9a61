// Keeps the memory of deleted blobs for new ones: reusing a page costs half as much as
// allocating a new one.
//
// Only memory that was never sent to a socket is kept. sendfile passes the pages themselves to
// the socket, where they may wait to be read long after the blob is deleted.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_SPARE_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_SPARE_MEMORY_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// A memfd and its permission for a descriptor.
struct MemoryFile {
  Descriptor file;
  DescriptorShare share;
  std::uint64_t size = 0;  // bytes in pages of the memfd
  MemoryCharge charge;     // at least `size` if there is a limit
};

struct SpareMemoryLimits {
  std::uint64_t floor_bytes = 64 << 20;  // kept regardless of the stored bytes
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  std::chrono::milliseconds kept_for{5000};  // maximum time unused, then freed
};

// Keeps at most as many bytes as are stored, so that the process uses at most twice the memory it
// needs, and frees them after a few seconds. Thread safety: any thread. The background thread
// starts when memory is first kept.
class SpareMemory final : public ReclaimableMemory {
 public:
  explicit SpareMemory(SpareMemoryLimits limits = {}) : limits_(limits) {}
  ~SpareMemory() override;
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  // Returns a memfd for `size` bytes, positioned at offset 0. It is new, or reused with the old
  // content of other blobs. The result has no file if no descriptor is available.
  MemoryFile Take(std::uint64_t size);
  // Call when a blob of `bytes` bytes is stored.
  void AddStored(std::uint64_t bytes);
  void Reclaim() override;
  // Returns the memory of a deleted blob. `sent`: sockets may still be sending its pages.
  void Return(MemoryFile memory, bool sent) noexcept;

  std::uint64_t held_bytes();

 private:
  struct Spare {
    MemoryFile memory;
    std::chrono::steady_clock::time_point until;
  };
  using Spares = std::multimap<std::uint64_t, Spare>;  // by size

  // The smallest entry of at least `size` bytes, unless it is much too large. Otherwise the largest
  // smaller entry, or end().
  Spares::iterator BestFor(std::uint64_t size) PENSTOCK_REQUIRES(mutex_);
  void Keep(MemoryFile memory, bool sent);
  // Moves entries over the limit to `evicted`, to be closed outside the lock.
  void TrimToLimit(std::vector<MemoryFile>& evicted) PENSTOCK_REQUIRES(mutex_);
  MemoryFile TakeOut(Spares::iterator spare) PENSTOCK_REQUIRES(mutex_);
  void EvictExpired(std::chrono::steady_clock::time_point now, std::vector<MemoryFile>& evicted)
      PENSTOCK_REQUIRES(mutex_);
  void Work();

  const SpareMemoryLimits limits_;
  Mutex mutex_;
  CondVar changed_;
  Spares spares_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t stored_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // bytes in spares_
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_SPARE_MEMORY_H_
