// Memory of blobs that are gone, kept for those to come: a page that the process has costs half of
// what a fresh one costs.
//
// Only memory that never was on its way to a socket comes here. sendfile puts the very pages into
// the socket, where they may wait for their reader long after the blob is gone.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_SPARE_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_SPARE_MEMORY_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "emulator/store/blobs/descriptor.h"
#include "emulator/store/memory_limit.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// A memfd and its right to a descriptor.
struct MemoryFile {
  Descriptor file;
  DescriptorShare share;
  std::uint64_t size = 0;  // bytes of pages that it holds
  MemoryCharge charge;     // at least `size` where there is a limit
};

struct SpareMemoryLimits {
  std::uint64_t floor_bytes = 64 << 20;  // kept, however little is stored
  std::uint64_t most_bytes = std::uint64_t{2} << 30;
  std::chrono::milliseconds kept_for{5000};  // unused; then it goes back to the system
};

// Holds at most as much as is stored, so that the process has at most twice what it needs, and
// gives it back after a few seconds. Thread safety: any thread. Its own thread starts with the
// first memory kept.
class SpareMemory final : public ReclaimableMemory {
 public:
  explicit SpareMemory(SpareMemoryLimits limits = {}) : limits_(limits) {}
  ~SpareMemory() override;
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  // Memory for `size` bytes, at its beginning: spare, with bytes of others in it, or new. No file
  // when none is to be had.
  MemoryFile Take(std::uint64_t size);
  // So much is stored now, and no longer spare.
  void Stored(std::uint64_t bytes);
  void Reclaim() override;
  // What was stored is not needed any more. `sent`: somebody may still be sending its pages.
  void GiveBack(MemoryFile memory, bool sent) noexcept;

  std::uint64_t held_bytes();

 private:
  struct Spare {
    MemoryFile memory;
    std::chrono::steady_clock::time_point until;
  };
  using Spares = std::multimap<std::uint64_t, Spare>;  // by size

  // The smallest that is large enough, unless it is far too large; else the largest of the others,
  // if any.
  Spares::iterator BestFor(std::uint64_t size) PENSTOCK_REQUIRES(mutex_);
  void Keep(MemoryFile memory, bool sent);
  // Takes out what is too much; it is closed outside the lock.
  void Shed(std::vector<MemoryFile>& gone) PENSTOCK_REQUIRES(mutex_);
  MemoryFile TakeOut(Spares::iterator spare) PENSTOCK_REQUIRES(mutex_);
  void ShedOld(std::chrono::steady_clock::time_point now, std::vector<MemoryFile>& gone)
      PENSTOCK_REQUIRES(mutex_);
  void Work();

  const SpareMemoryLimits limits_;
  Mutex mutex_;
  CondVar changed_;
  Spares spares_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t stored_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // by spares_
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_SPARE_MEMORY_H_
