#include "client/transfer/block_memory.h"

#include <new>
#include <string>
#include <utility>

namespace penstock::transfer {

std::size_t BlockMemory::Cost(std::size_t bytes) {
  if (bytes < kLeastPooled) return bytes;
  return (bytes + BufferPool::kUnit - 1) / BufferPool::kUnit * BufferPool::kUnit;
}

Result<BlockMemory> BlockMemory::FromHeap(MemoryBudget::Share share, std::size_t bytes) {
  BlockMemory memory;
  try {
    memory.heap_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    return Error::Make(ErrorKind::kResourceExhausted, "no memory for a block of " + std::to_string(bytes) + " bytes");
  }
  memory.share_ = std::move(share);
  memory.size_ = bytes;
  return memory;
}

Result<std::optional<BlockMemory>> BlockMemory::TryTake(BufferPool& pool, std::size_t bytes) {
  if (bytes < kLeastPooled) {
    std::optional<MemoryBudget::Share> share = pool.budget().TryTake(bytes);
    if (!share) return std::optional<BlockMemory>();
    PENSTOCK_ASSIGN(BlockMemory memory, FromHeap(std::move(*share), bytes));
    return std::optional<BlockMemory>(std::move(memory));
  }
  PENSTOCK_ASSIGN(std::optional<PooledBuffer> pooled, pool.TryTake(bytes));
  if (!pooled) return std::optional<BlockMemory>();
  BlockMemory memory;
  memory.pooled_ = std::move(*pooled);
  memory.size_ = bytes;
  return std::optional<BlockMemory>(std::move(memory));
}

Result<BlockMemory> BlockMemory::Take(BufferPool& pool, std::size_t bytes, const std::function<bool()>& interrupt) {
  if (bytes < kLeastPooled) {
    PENSTOCK_ASSIGN(MemoryBudget::Share share, pool.budget().Take(bytes, interrupt));
    return FromHeap(std::move(share), bytes);
  }
  BlockMemory memory;
  PENSTOCK_ASSIGN(memory.pooled_, pool.Take(bytes, interrupt));
  memory.size_ = bytes;
  return memory;
}

void BlockMemory::SetInFlight(bool in_flight) {
  if (pooled_) {
    pooled_.SetInFlight(in_flight);
  } else {
    share_.SetInFlight(in_flight);
  }
}

}  // namespace penstock::transfer
