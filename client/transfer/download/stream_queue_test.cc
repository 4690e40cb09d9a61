#include "client/transfer/download/stream_queue.h"

#include <gtest/gtest.h>

namespace penstock::transfer {
namespace {

StreamQueue::Slot Block(std::uint64_t offset, std::uint64_t size) {
  auto slot = std::make_shared<StreamSlot>(std::stop_token());
  slot->offset = offset;
  slot->size = size;
  return slot;
}

// A queue of [0, 100) in blocks of ten, of which the first `blocks` are requested.
StreamQueue QueueWithRequested(int blocks) {
  StreamQueue queue;
  queue.Append({0, 100});
  for (int i = 0; i < blocks; ++i) {
    queue.Push(Block(10 * i, 10));
    queue.MarkRequested(10 * i + 10);
  }
  return queue;
}

TEST(StreamQueue, ReportsTheRangesNotYetRequested) {
  EXPECT_EQ(QueueWithRequested(3).remaining().begin, 30u);
  EXPECT_TRUE(QueueWithRequested(10).all_requested());
}

TEST(StreamQueue, DroppedBlocksAreRequestedAgain) {
  StreamQueue queue = QueueWithRequested(10);
  const StreamQueue::Slot last = queue.Drop();
  EXPECT_TRUE(last->dropped);
  EXPECT_EQ(queue.remaining().begin, 90u);
  queue.Drop();
  EXPECT_EQ(queue.remaining().begin, 80u);
  EXPECT_EQ(queue.remaining().end, 100u);
  EXPECT_EQ(queue.size(), 8u);
}

TEST(StreamQueue, SeparateRangesStaySeparate) {
  StreamQueue queue;
  queue.Append({50, 60});
  queue.Append({0, 10});
  queue.Push(Block(50, 10));
  queue.MarkRequested(60);
  EXPECT_EQ(queue.EndFrom(50), 60u);
  queue.Drop();
  EXPECT_EQ(queue.remaining().begin, 50u);
  queue.MarkRequested(60);
  EXPECT_EQ(queue.remaining().begin, 0u);
}

TEST(StreamQueue, ReturnedRestCountsBytesButNoBlock) {
  StreamQueue queue = QueueWithRequested(2);
  queue.Pop();
  const auto bytes = std::make_shared<std::byte[]>(10);
  queue.Return({4, {bytes, bytes.get() + 4}, 6}, 0, 10);
  EXPECT_EQ(queue.ahead().blocks, 1u);
  EXPECT_EQ(queue.ahead().bytes, 16u);
  EXPECT_EQ(queue.EndFrom(4), 20u);
  EXPECT_EQ(queue.EndFrom(3), 3u);
  EXPECT_EQ(queue.front()->used_bytes().data(), bytes.get());
  EXPECT_EQ(queue.Pop()->TakeBlock().data.get(), bytes.get() + 4);
}

TEST(StreamQueue, DoesNotDropTheAwaitedBlockOrTheFirstRequest) {
  StreamQueue queue = QueueWithRequested(1);
  EXPECT_TRUE(queue.MayDrop(0));
  EXPECT_FALSE(queue.MayDrop(1));
  queue.front()->is_first_request = true;
  EXPECT_FALSE(queue.MayDrop(0));
  queue.front()->ready = true;
  EXPECT_TRUE(queue.MayDrop(0));
}

}  // namespace
}  // namespace penstock::transfer
