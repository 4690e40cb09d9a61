// The memory of one block of a stream, within the process's budget.
#ifndef PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_
#define PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/memory.h"

namespace penstock::transfer {

// Pooled huge pages from 1 MiB on; less comes from the heap, since a pooled buffer is 2 MiB at least. Not zeroed. Given back
// when destroyed.
class BlockMemory {
 public:
  static constexpr std::size_t kLeastPooled = 1 << 20;

  // Now or not at all. kResourceExhausted when the system has none.
  static Result<std::optional<BlockMemory>> TryTake(BufferPool& pool, std::size_t bytes);
  // Waits for the budget; see MemoryBudget::Take. Not on an I/O thread.
  static Result<BlockMemory> Take(BufferPool& pool, std::size_t bytes, const std::function<bool()>& interrupt);

  BlockMemory() = default;

  std::byte* data() const { return pooled_ ? pooled_.data() : heap_.get(); }
  std::size_t size() const { return size_; }  // as asked for
  std::size_t held() const { return Cost(size_); }
  // What so many bytes take of the budget.
  static std::size_t Cost(std::size_t bytes);
  MutableByteView bytes() const { return {data(), size_}; }
  void SetInFlight(bool in_flight);

 private:
  static Result<BlockMemory> FromHeap(MemoryBudget::Share share, std::size_t bytes);

  PooledBuffer pooled_;
  MemoryBudget::Share share_;
  std::unique_ptr<std::byte[]> heap_;
  std::size_t size_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_BLOCK_MEMORY_H_
