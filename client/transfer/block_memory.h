// The memory of one block of a stream, within the process's budget.
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

// Huge pages from 1 MiB on, since a buffer of them is 2 MiB at least; less in small ones. Not
// zeroed. Given back when destroyed.
class BlockMemory {
 public:
  static constexpr std::size_t kLeastHuge = BufferPool::kLeastHuge;

  // Now or not at all. kResourceExhausted when the system has none.
  static Result<std::optional<BlockMemory>> TryTake(BufferPool& pool, std::size_t bytes);
  // Waits for the budget; see MemoryBudget::Take. Not on an I/O thread.
  static Result<BlockMemory> Take(BufferPool& pool, std::size_t bytes,
                                  const std::function<bool()>& interrupt);

  BlockMemory() = default;

  std::byte* data() const { return buffer_.data(); }
  std::size_t size() const { return size_; }  // as asked for
  std::size_t held() const { return buffer_.size(); }
  // What so many bytes take of the budget.
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
