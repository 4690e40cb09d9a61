#include "client/transfer/block_memory.h"

#include <utility>

namespace penstock::transfer {
namespace {

constexpr BufferPool::Grain kGrain = BufferPool::Grain::kSmall;

}  // namespace

std::size_t BlockMemory::Cost(std::size_t bytes) { return BufferPool::SizeFor(bytes, kGrain); }

Result<std::optional<BlockMemory>> BlockMemory::TryTake(BufferPool& pool, std::size_t bytes) {
  PENSTOCK_ASSIGN(std::optional<PooledBuffer> pooled, pool.TryTake(bytes, kGrain));
  if (!pooled) return std::optional<BlockMemory>();
  return std::optional<BlockMemory>(BlockMemory(*std::move(pooled), bytes));
}

Result<BlockMemory> BlockMemory::Take(BufferPool& pool, std::size_t bytes,
                                      const std::function<bool()>& interrupt) {
  PENSTOCK_ASSIGN(PooledBuffer pooled, pool.Take(bytes, interrupt, kGrain));
  return BlockMemory(std::move(pooled), bytes);
}

}  // namespace penstock::transfer
