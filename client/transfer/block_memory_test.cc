#include "client/transfer/block_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace penstock::transfer {
namespace {

constexpr std::size_t kMiB = 1 << 20;

TEST(BlockMemory, CountsAndReleasesEverySize) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  for (const std::size_t size : {std::size_t{1}, kMiB - 1, kMiB, 3 * kMiB}) {
    {
      const BlockMemory memory = BlockMemory::Take(pool, size, {}).value();
      EXPECT_EQ(memory.size(), size);
      std::memset(memory.data(), 7, size);
      EXPECT_GE(budget.usage().held, size);
    }
    EXPECT_EQ(budget.usage().held, 0u);
  }
}

TEST(BlockMemory, TryTakeStaysWithinTheBudget) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  const BlockMemory most = BlockMemory::TryTake(pool, 16 * kMiB).value().value();
  EXPECT_FALSE(BlockMemory::TryTake(pool, 2 * kMiB).value().has_value());
  EXPECT_FALSE(BlockMemory::TryTake(pool, 10).value().has_value());
}

TEST(BlockMemory, ReportsMemoryInFlightForEverySize) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  for (const std::size_t size : {std::size_t{10}, 2 * kMiB}) {
    BlockMemory memory = BlockMemory::Take(pool, size, {}).value();
    memory.SetInFlight(true);
    EXPECT_EQ(budget.usage().in_flight, BlockMemory::Cost(size));
    memory.SetInFlight(false);
    EXPECT_EQ(budget.usage().in_flight, 0u);
  }
}

TEST(BlockMemory, CostEqualsTheHeldBytes) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  for (const std::size_t size : {std::size_t{1}, std::size_t{70'000}, kMiB - 1, kMiB, 3 * kMiB}) {
    const BlockMemory memory = BlockMemory::Take(pool, size, {}).value();
    EXPECT_EQ(memory.held(), BlockMemory::Cost(size));
    EXPECT_EQ(budget.usage().held, memory.held());
  }
}

TEST(BlockMemory, MovesWithItsContent) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  BlockMemory memory = BlockMemory::Take(pool, 10, {}).value();
  *memory.data() = std::byte{9};
  const BlockMemory moved = std::move(memory);
  EXPECT_EQ(*moved.data(), std::byte{9});
  EXPECT_EQ(budget.usage().held, BlockMemory::Cost(10));
}

}  // namespace
}  // namespace penstock::transfer
