#include "client/checkpoint/load/scratch_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kFull = ScratchPool::kArenaBytes - ScratchPool::kAlignment;

// Takes an arena and allocates `size` bytes of it.
std::shared_ptr<Arena> Taken(ScratchPool& pool, std::uint64_t size) {
  std::shared_ptr<Arena> arena = pool.Take(size).value();
  EXPECT_NE(arena, nullptr);
  arena->Take(size, false);
  return arena;
}

TEST(ScratchPoolTest, MemoryIsBoundedAndReused) {
  const std::uint64_t huge = 2 * ScratchPool::kArenas * ScratchPool::kArenaBytes;
  ScratchPool pool(AllocateFromHeap);
  std::vector<std::shared_ptr<Arena>> arenas;
  for (std::uint64_t i = 0; i < ScratchPool::kArenas; ++i) arenas.push_back(Taken(pool, kFull));
  EXPECT_EQ(std::set<std::shared_ptr<Arena>>(arenas.begin(), arenas.end()).size(),
            ScratchPool::kArenas);
  EXPECT_EQ(pool.Take(100).value(), nullptr);
  pool.Release(arenas[0]);
  EXPECT_EQ(Taken(pool, kFull), arenas[0]);
  // An arena larger than the pool is available only when no other is in use.
  EXPECT_EQ(pool.Take(huge).value(), nullptr);
  for (const auto& arena : arenas) pool.Release(arena);
  const auto large = Taken(pool, huge);
  EXPECT_EQ(pool.Take(kFull).value(), nullptr);
  pool.Release(large);
  EXPECT_EQ(Taken(pool, kFull)->memory->bytes().size(), ScratchPool::kArenaBytes);
}

class WaitingMemory final : public ScratchMemory {
 public:
  explicit WaitingMemory(std::uint64_t size) : data_(size) {}
  MutableByteView bytes() const override { return {data_.data(), data_.size()}; }
  void Wait() override { ++waits; }
  int waits = 0;

 private:
  mutable std::vector<std::byte> data_;
};

TEST(ScratchPoolTest, AnArenaIsReusedAfterItsCopiesHaveCompleted) {
  std::vector<std::shared_ptr<WaitingMemory>> made;
  ScratchPool pool([&](std::uint64_t bytes) -> Result<std::shared_ptr<ScratchMemory>> {
    made.push_back(std::make_shared<WaitingMemory>(bytes));
    return std::shared_ptr<ScratchMemory>(made.back());
  });
  const auto arena = Taken(pool, kFull);
  const auto other = Taken(pool, kFull);
  EXPECT_NE(other, arena);
  pool.Release(arena);
  EXPECT_EQ(made[0]->waits, 0);
  EXPECT_EQ(Taken(pool, kFull), arena);
  EXPECT_EQ(made[0]->waits, 1);
  pool.Release(arena);
  pool.Release(other);
  pool.Clear();
  EXPECT_EQ(made[0]->waits, 2);
  EXPECT_EQ(made[1]->waits, 1);
}

TEST(ScratchPoolTest, TensorsAreAligned) {
  ScratchPool pool(AllocateFromHeap);
  const auto arena = Taken(pool, 3);
  EXPECT_EQ(arena->Take(10, true), 64U);
  EXPECT_EQ(arena->Take(10, false), 74U);
}

}  // namespace
}  // namespace penstock::checkpoint
