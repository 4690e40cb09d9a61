// Scratch memory for data that cannot be received in its destination: a bounded pool of reused
// arenas.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_SCRATCH_POOL_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_SCRATCH_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::checkpoint {

// Memory of an arena.
class ScratchMemory {
 public:
  virtual ~ScratchMemory() = default;
  virtual MutableByteView bytes() const = 0;
  // Waits until no copy to a device reads the memory. It may then be reused or destroyed.
  virtual void Wait() {}
};

// Allocates `bytes` bytes of memory.
using AllocateScratch = std::function<Result<std::shared_ptr<ScratchMemory>>(std::uint64_t bytes)>;
// Allocates from the heap.
Result<std::shared_ptr<ScratchMemory>> AllocateFromHeap(std::uint64_t bytes);

// A block that is allocated from start to end, and reused when it has no users.
struct Arena {
  std::shared_ptr<ScratchMemory> memory;
  std::uint64_t used = 0;
  int users = 0;

  std::uint64_t left() const { return memory->bytes().size() - used; }
  // Allocates `size` bytes, at a multiple of kAlignment if `aligned`. Returns their offset.
  std::uint64_t Take(std::uint64_t size, bool aligned);
};

class ScratchPool {
 public:
  static constexpr std::uint64_t kAlignment = 64;
  static constexpr std::uint64_t kArenaBytes = 8 << 20;
  static constexpr std::uint64_t kArenas = 10;

  explicit ScratchPool(AllocateScratch allocate) : allocate_(std::move(allocate)) {}

  // Returns an arena with `size` bytes and an alignment left, with the caller as a user; nullptr if
  // an arena must be released first. A size beyond the whole pool gets an arena of its own when no
  // other is in use.
  Result<std::shared_ptr<Arena>> Take(std::uint64_t size);
  void Release(const std::shared_ptr<Arena>& arena);
  // Waits until the memory is not in use, and frees it. Requires that all users have released.
  void Clear();

 private:
  void Retire();
  void PutBack(const std::shared_ptr<Arena>& arena);
  void DropFree();

  const AllocateScratch allocate_;
  std::vector<std::shared_ptr<Arena>> free_;
  std::shared_ptr<Arena> current_;
  std::uint64_t bytes_ = 0;  // of all arenas
  int held_ = 0;             // arenas that have users or are current
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_SCRATCH_POOL_H_
