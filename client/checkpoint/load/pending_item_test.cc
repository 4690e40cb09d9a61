#include "client/checkpoint/load/pending_item.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/crc/crc.h"

namespace penstock::checkpoint {
namespace {

constexpr std::int64_t kLong = 2048;  // elements of a row that is received directly

// A float32 tensor of `sizes`, read as a whole into memory with `strides`.
struct Target {
  Target(Dimensions sizes, Dimensions strides) : memory(1 << 16) {
    source.name = "weight";
    source.dtype = "float32";
    source.item_bytes = 4;
    source.sizes = sizes;
    BoxRead read;
    read.box = {Dimensions(sizes.size(), 0), sizes};
    read.memory = {memory.data(), std::move(strides)};
    read.memory_item_bytes = 4;
    read.is_direct = true;
    source.reads.push_back(std::move(read));
  }

  std::vector<std::byte> memory;
  LoadItem source;
};

std::unique_ptr<PendingItem> Planned(LoadItem source) {
  auto item = std::make_unique<PendingItem>(7, std::move(source));
  item->strides = RowMajorStrides(item->source.sizes);
  std::uint64_t extra_bytes = 0;
  item->PlanUnits(EngineLimits{}, extra_bytes);
  return item;
}

ReadMode ModeOf(const Target& target) { return Planned(target.source)->reads[0].mode; }

TEST(PendingItemTest, ReadsAreDirectWhereBytesAreContiguousOnBothSides) {
  EXPECT_EQ(ModeOf(Target({4, 8}, {8, 1})), ReadMode::kRun);
  EXPECT_EQ(ModeOf(Target({2, kLong}, {2 * kLong, 1})), ReadMode::kRows);
  EXPECT_EQ(ModeOf(Target({4, 8}, {16, 1})), ReadMode::kScratch);     // short rows
  EXPECT_EQ(ModeOf(Target({2, kLong}, {0, 1})), ReadMode::kScratch);  // rows overlap
  Target converted({4, 8}, {8, 1});
  converted.source.reads[0].is_direct = false;
  EXPECT_EQ(ModeOf(converted), ReadMode::kScratch);
}

TEST(PendingItemTest, ATransposedTargetPredictsTransposedElements) {
  const auto item = Planned(Target({4, 8}, {1, 4}).source);
  EXPECT_TRUE(item->IsOneRun());
  EXPECT_EQ(item->strides, (Dimensions{1, 4}));
}

TEST(PendingItemTest, OnlyATensorThatContainsAllBoxesIsDeclared) {
  Target target({4, 8}, {8, 1});
  EXPECT_TRUE(PendingItem(1, target.source).is_declared);
  target.source.reads[0].box.offsets[0] = 1;
  EXPECT_FALSE(PendingItem(1, target.source).is_declared);
}

TEST(PendingItemTest, LargeReadsAreSplit) {
  EngineLimits limits;
  limits.unit_bytes = 48;
  Target target({4, 8}, {8, 1});
  PendingItem item(1, target.source);
  item.strides = {8, 1};
  std::uint64_t extra_bytes = 0;
  item.PlanUnits(limits, extra_bytes);
  ASSERT_EQ(item.units.size(), 3U);
  EXPECT_EQ(item.units[2].begin, 96U);
  EXPECT_EQ(item.units[2].size, 32U);
  EXPECT_FALSE(item.at_once);
}

TEST(PendingItemTest, TheCrcOfACompletePayloadIsCompared) {
  Target target({4, 8}, {8, 1});
  const auto item = Planned(target.source);
  ASSERT_EQ(item->units.size(), 1U);
  item->AddCrc(item->units[0], target.memory.data());
  const std::uint32_t crc = Crc32(ByteView(target.memory.data(), 128));
  EXPECT_TRUE(item->CheckCrcs(crc).ok());
  EXPECT_TRUE(item->CheckCrcs(0).ok());  // stored without a checksum
  EXPECT_EQ(item->CheckCrcs(crc + 1).error().kind, ErrorKind::kDataLoss);
}

// Rows of 64 KiB, and pieces of 128 KiB: 8 rows of `sizes`, of which [1, 5) are read.
TEST(PendingItemTest, RowsAreCompletedToPieces) {
  Target target({8, 16384}, {16384, 1});
  target.source.crc32s.resize(4);
  target.source.reads[0].box = {{1, 0}, {4, 16384}};
  PendingItem item(1, target.source);
  item.strides = {16384, 1};
  std::uint64_t extra_bytes = 128 << 10;
  item.PlanUnits(EngineLimits{}, extra_bytes);
  ASSERT_EQ(item.units.size(), 3U);
  EXPECT_EQ(item.units[1].begin, 0U);
  EXPECT_EQ(item.units[1].size, 64U << 10);
  EXPECT_EQ(item.units[2].begin, 5U * 65536);
  EXPECT_EQ(item.units[2].size, 64U << 10);
  EXPECT_EQ(extra_bytes, (4 * 64 << 10) / 16U);
}

TEST(PendingItemTest, AUnitIsCopiedToItsPlaceInTheTarget) {
  std::vector<float> scratch(8);
  std::iota(scratch.begin(), scratch.end(), 0.0F);
  std::vector<float> memory(12, -1.0F);
  PlannedRead read;
  read.to.box = {{1, 1}, {2, 2}};
  read.to.memory = {reinterpret_cast<std::byte*>(memory.data()), {4, 2}};
  const ReadUnit unit{&read, 0, 32, {{1, 0}, {2, 4}}};  // with the gaps between rows
  CopyWanted(unit.box, read.to, reinterpret_cast<const std::byte*>(scratch.data()), 4);
  EXPECT_EQ(memory, (std::vector<float>{1, -1, 2, -1, 5, -1, 6, -1, -1, -1, -1, -1}));
}

}  // namespace
}  // namespace penstock::checkpoint
