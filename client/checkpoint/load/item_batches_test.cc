#include "client/checkpoint/load/item_batches.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kPayload = 400;
constexpr std::uint64_t kEnds = 100;

// An item of 100 float32 numbers at byte `begin` of object `key`, prepared to be read as a whole.
ItemPointer PreparedItem(std::byte* memory, const std::string& key, std::uint64_t begin) {
  LoadItem source;
  source.name = "weight";
  source.bucket = BucketName("bucket");
  source.key = ObjectKey(key);
  source.begin = begin;
  source.length = kPayload + 2 * kEnds;
  source.dtype = "float32";
  source.item_bytes = 4;
  source.sizes = {100};
  BoxRead read;
  read.box = {{0}, {100}};
  read.memory = {memory, {1}};
  read.is_direct = true;
  source.reads.push_back(read);
  auto item = std::make_shared<PendingItem>(1, std::move(source));
  item->strides = {1};
  item->head = kEnds;
  item->tail = kEnds;
  std::uint64_t extra_bytes = 0;
  item->PlanUnits(EngineLimits{}, extra_bytes);
  return item;
}

class ItemBatchesTest : public testing::Test {
 protected:
  bool Place(ItemBatches& batches, const std::string& key, std::uint64_t begin) {
    return batches.Place(PreparedItem(memory_.data(), key, begin)).value();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kPayload);
  ScratchPool scratch_{AllocateFromHeap};
  EngineLimits limits_;
};

TEST_F(ItemBatchesTest, ABatchHasItemsOfOneObject) {
  ItemBatches batches(limits_, scratch_);
  EXPECT_TRUE(Place(batches, "a", 0));
  EXPECT_TRUE(Place(batches, "a", 600));
  EXPECT_FALSE(batches.has_ready());
  EXPECT_TRUE(Place(batches, "b", 0));
  batches.Flush();
  const std::vector<Batch> ready = batches.TakeReady();
  ASSERT_EQ(ready.size(), 2U);
  EXPECT_EQ(ready[0].key.value, "a");
  EXPECT_EQ(ready[0].items, 2U);
  EXPECT_EQ(ready[0].bytes, 2 * (kPayload + 2 * kEnds));
  EXPECT_EQ(ready[1].key.value, "b");
  EXPECT_TRUE(batches.is_empty());
}

TEST_F(ItemBatchesTest, APieceIsRequestedForTheHeadThePayloadAndTheTail) {
  ItemBatches batches(limits_, scratch_);
  EXPECT_TRUE(Place(batches, "a", 1000));
  batches.Flush();
  const std::vector<RangePiece> pieces = batches.TakeReady().at(0).pieces;
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].begin, 1000U);
  EXPECT_EQ(pieces[1].begin, 1500U);
  EXPECT_EQ(pieces[2].begin, 1100U);
  EXPECT_EQ(pieces[2].memory.data(), memory_.data());
}

TEST_F(ItemBatchesTest, BatchesInFlightMustCompleteIfTheWindowIsFull) {
  limits_.window_bytes = 1000;
  limits_.batch_items = 1;
  ItemBatches batches(limits_, scratch_);
  EXPECT_TRUE(Place(batches, "a", 0));
  EXPECT_FALSE(Place(batches, "a", 600));
  const std::vector<Batch> ready = batches.TakeReady();
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_FALSE(Place(batches, "a", 600));
  batches.Complete(ready[0]);
  EXPECT_TRUE(Place(batches, "a", 600));
}

}  // namespace
}  // namespace penstock::checkpoint
