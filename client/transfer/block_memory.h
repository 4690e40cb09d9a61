// The memory of one block of a stream, charged to the process's memory budget.
#ifndef PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_
#define PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/memory.h"

namespace penstock::transfer {

// Uses huge pages for 1 MiB and more. Smaller blocks use ordinary pages, because a buffer of huge
// pages has at least 2 MiB. The memory is not zeroed. The destructor releases it.
class BlockMemory {
 public:
  static constexpr std::size_t kMinHugeBytes = BufferPool::kMinHugeBytes;

  // Takes memory without waiting; nullopt if the budget is exhausted. Returns kResourceExhausted if
  // the system has none.
  static Result<std::optional<BlockMemory>> TryTake(BufferPool& pool, std::size_t bytes);
  // Waits for the budget; see MemoryBudget::Take. Must not be called on an I/O thread.
  static Result<BlockMemory> Take(BufferPool& pool, std::size_t bytes,
                                  const std::function<bool()>& interrupt);

  BlockMemory() = default;

  std::byte* data() const { return buffer_.data(); }
  std::size_t size() const { return size_; }           // as requested
  std::size_t held() const { return buffer_.size(); }  // with the unused rest of the pages
  // Returns the part of the budget that `bytes` bytes take.
  static std::size_t Cost(std::size_t bytes);
  MutableByteView bytes() const { return {data(), size_}; }
  void SetInFlight(bool in_flight) { buffer_.SetInFlight(in_flight); }

 private:
  BlockMemory(PooledBuffer buffer, std::size_t size) : buffer_(std::move(buffer)), size_(size) {}

  PooledBuffer buffer_;
  std::size_t size_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_
