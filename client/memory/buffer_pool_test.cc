#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/memory.h"

namespace penstock {
namespace {

constexpr std::size_t kMiB = 1 << 20;

PooledBuffer Must(Result<PooledBuffer> taken) {
  EXPECT_TRUE(taken.ok()) << taken.error().ToString();
  return std::move(taken).value();
}

TEST(BufferPoolTest, BuffersAreWholeAlignedUnitsOfWritableMemory) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  for (const std::size_t asked :
       {std::size_t{0}, std::size_t{1}, 2 * kMiB, 2 * kMiB + 1, 5 * kMiB}) {
    const PooledBuffer buffer = Must(pool.Take(asked));
    EXPECT_GE(buffer.size(), asked);
    EXPECT_LT(buffer.size(), asked + BufferPool::kUnit + 1);
    EXPECT_EQ(buffer.size() % BufferPool::kUnit, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % BufferPool::kUnit, 0u);
    EXPECT_EQ(budget.usage().held, buffer.size());
    std::memset(buffer.data(), 1, buffer.size());
    EXPECT_EQ(buffer.bytes().back(), std::byte{1});
  }
}

TEST(BufferPoolTest, ReusesMemory) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  PooledBuffer buffer = Must(pool.Take(4 * kMiB));
  std::byte* const memory = buffer.data();
  buffer.Release();
  EXPECT_FALSE(buffer);
  EXPECT_EQ(pool.kept_bytes(), 4 * kMiB);
  EXPECT_EQ(budget.usage().held, 0u);
  EXPECT_EQ(Must(pool.Take(4 * kMiB)).data(), memory);
}

TEST(BufferPoolTest, KeepsAtMostAQuarterOfTheLimit) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  {
    std::vector<PooledBuffer> buffers;
    for (int i = 0; i < 8; ++i) buffers.push_back(Must(pool.Take(8 * kMiB)));
  }
  EXPECT_EQ(pool.kept_bytes(), 16 * kMiB);
  pool.Trim();
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(BufferPoolTest, KeptAndHeldMemoryTogetherStayWithinTheLimit) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  Must(pool.Take(16 * kMiB)).Release();
  ASSERT_EQ(pool.kept_bytes(), 16 * kMiB);
  const PooledBuffer large = Must(pool.Take(60 * kMiB));
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(BufferPoolTest, TryTakeReturnsNothingIfTheBudgetIsExhausted) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  const PooledBuffer held = Must(pool.Take(12 * kMiB));
  const Result<std::optional<PooledBuffer>> none = pool.TryTake(8 * kMiB);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  const Result<std::optional<PooledBuffer>> some = pool.TryTake(4 * kMiB);
  ASSERT_TRUE(some.ok());
  EXPECT_TRUE(some->has_value());
}

TEST(BufferPoolTest, TakeWaitsForABufferToBeReleased) {
  MemoryBudget budget(16 * kMiB);
  BufferPool pool(budget);
  PooledBuffer held = Must(pool.Take(16 * kMiB));
  held.SetInFlight(true);
  std::byte* got = nullptr;
  std::jthread taker([&] { got = Must(pool.Take(2 * kMiB)).data(); });
  while (budget.usage().waiting == 0) std::this_thread::yield();
  held.Release();
  taker.join();
  EXPECT_NE(got, nullptr);
}

TEST(BufferPoolTest, SmallGrainGivesSmallBuffers) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  constexpr std::size_t kKiB = 1024;
  for (const auto& [asked, given] : {std::pair{std::size_t{0}, 4 * kKiB},
                                     {5 * kKiB, 8 * kKiB},
                                     {64 * kKiB, 64 * kKiB},
                                     {65 * kKiB, 128 * kKiB},
                                     {kMiB - 1, kMiB},
                                     {kMiB, 2 * kMiB},
                                     {3 * kMiB, 4 * kMiB}}) {
    const PooledBuffer buffer = Must(pool.Take(asked, {}, BufferPool::Grain::kSmall));
    EXPECT_EQ(buffer.size(), given);
    EXPECT_EQ(budget.usage().held, given);
    std::memset(buffer.data(), 1, buffer.size());
  }
}

TEST(BufferPoolTest, FreesKeptMemoryForSmallBuffers) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  Must(pool.Take(16 * kMiB)).Release();
  std::vector<PooledBuffer> small;
  while (budget.usage().held + kMiB <= 64 * kMiB) {
    small.push_back(Must(pool.Take(900'000, {}, BufferPool::Grain::kSmall)));
    EXPECT_LE(budget.usage().held + pool.kept_bytes(), 64 * kMiB);
  }
  EXPECT_EQ(pool.kept_bytes(), 0u);
  small.clear();
  EXPECT_LE(pool.kept_bytes(), 16 * kMiB);
  EXPECT_GT(pool.kept_bytes(), 0u);
}

TEST(BufferPoolTest, MakeRoomFreesMemoryForOtherUsersOfTheBudget) {
  MemoryBudget budget(64 * kMiB);
  BufferPool pool(budget);
  Must(pool.Take(16 * kMiB)).Release();
  const auto share = budget.TryTake(60 * kMiB);
  ASSERT_TRUE(share);
  pool.MakeRoom();
  EXPECT_LE(pool.kept_bytes(), 4 * kMiB);
}

TEST(BufferPoolTest, RejectsImpossibleSizes) {
  MemoryBudget budget(UINT64_MAX);
  BufferPool pool(budget);
  const Result<PooledBuffer> refused = pool.Take(SIZE_MAX);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(budget.usage().held, 0u);
}

TEST(BufferPoolTest, ForkedChildUsesItsOwnPool) {
  BufferPool& parents = BufferPool::PerProcess();
  PooledBuffer held = Must(parents.Take(2 * kMiB));
  std::memset(held.data(), 7, held.size());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool readable = held.bytes().back() == std::byte{7};
    held.Release();
    BufferPool& own = BufferPool::PerProcess();
    const PooledBuffer mine = Must(own.Take(2 * kMiB));
    std::memset(mine.data(), 1, mine.size());
    std::_Exit(readable && &own != &parents && &own.budget() != &parents.budget() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(held.bytes().front(), std::byte{7});
}

}  // namespace
}  // namespace penstock
