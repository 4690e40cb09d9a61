#include "client/checkpoint/load/memory_leases.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

constexpr std::uintptr_t kMemory = 0x10000;

// Memory of a box of a tensor of floats whose first element would be at `tensor`.
LeasedMemory BoxOf(std::uintptr_t tensor, Dimensions strides, Box box) {
  return {tensor + static_cast<std::uintptr_t>(box.First(strides)) * 4, 4, std::move(strides), box};
}

LeasedMemory Elements(std::int64_t first, std::int64_t count) {
  return {kMemory + static_cast<std::uintptr_t>(first) * 4, 4, {1}, {{0}, {count}}};
}

TEST(MemoryLeasesTest, DisjointColumnsOfOneTensorDoNotConflict) {
  MemoryLeases leases;
  EXPECT_TRUE(leases.Acquire(1, BoxOf(kMemory, {10, 1}, {{0, 0}, {10, 5}})));
  EXPECT_TRUE(leases.Acquire(2, BoxOf(kMemory, {10, 1}, {{0, 5}, {10, 5}})));
  EXPECT_FALSE(leases.Acquire(3, BoxOf(kMemory, {10, 1}, {{0, 4}, {10, 2}})));
  const LeasedMemory other = BoxOf(kMemory + 20, {10, 1}, {{0, 0}, {10, 5}});
  EXPECT_FALSE(leases.Acquire(3, other));
  leases.Release(1);
  EXPECT_FALSE(leases.Acquire(3, other));
  leases.Release(2);
  EXPECT_TRUE(leases.Acquire(3, other));
}

TEST(MemoryLeasesTest, AdjacentTensorsInOneStorageDoNotConflict) {
  MemoryLeases leases;
  for (const std::int64_t i : {3, 1, 2, 0, 9}) EXPECT_TRUE(leases.Acquire(i, Elements(10 * i, 10)));
  EXPECT_FALSE(leases.Acquire(20, Elements(15, 10)));
  EXPECT_FALSE(leases.Acquire(20, Elements(0, 100)));
  EXPECT_TRUE(leases.Acquire(20, Elements(15, 0)));
  EXPECT_TRUE(leases.Acquire(21, Elements(40, 50)));
}

TEST(MemoryLeasesTest, ARefusedLeaseChangesNothing) {
  MemoryLeases leases;
  EXPECT_TRUE(leases.Acquire(1, BoxOf(kMemory, {100}, {{0}, {2}})));
  EXPECT_TRUE(leases.Acquire(2, Elements(200, 10)));
  EXPECT_FALSE(leases.Acquire(3, BoxOf(kMemory, {100}, {{2}, {1}})));  // one more row: lease 2
  leases.Release(3);
  EXPECT_TRUE(leases.Acquire(4, Elements(102, 90)));
  leases.Release(1);
  EXPECT_TRUE(leases.Acquire(5, Elements(0, 102)));
}

TEST(MemoryLeasesTest, EqualMemoryOfOtherTensorsConflicts) {
  MemoryLeases leases;
  EXPECT_TRUE(leases.Acquire(1, Elements(0, 10)));
  EXPECT_FALSE(leases.Acquire(2, Elements(0, 10)));  // another name of the same tensor
  EXPECT_FALSE(leases.Acquire(2, {kMemory, 8, {1}, {{0}, {5}}}));
  EXPECT_FALSE(leases.Acquire(2, {kMemory, 4, {5, 1}, {{0, 0}, {2, 5}}}));
  leases.Release(1);
  EXPECT_TRUE(leases.Acquire(2, {kMemory, 4, {5, 1}, {{0, 0}, {2, 5}}}));
}

}  // namespace
}  // namespace penstock::checkpoint
