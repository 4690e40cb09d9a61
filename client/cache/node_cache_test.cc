#include "client/cache/node_cache.h"

#include <gtest/gtest.h>

#include "client/cache/cache_test_support.h"

namespace penstock::cache {
namespace {

class NodeCacheTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  NodeCache& cache_ = *NodeCache::PerProcess({directory_.path(), 64ull << 20}).value();
  const ObjectVersion version_{"e", "b", "k", "t"};
  const std::string hash_ = HashOf(version_);

  void Complete(const BlockFetchPtr& fetch, const Bytes& content) {
    auto bytes = BlockBytes::Take(content.size());
    ASSERT_NE(bytes, nullptr);
    std::ranges::copy(content, bytes->bytes.get());
    BlockHead head;
    head.version = version_;
    head.index = fetch->id.index;
    head.metadata.size = fetch->id.index * kCacheBlockBytes + content.size();
    cache_.Complete(fetch, std::move(bytes), head);
  }
  void WaitUntilStored() {
    while (cache_.in_flight() > 0) std::this_thread::yield();
  }
};

TEST_F(NodeCacheTest, TheSameDirectoryIsTheSameCache) {
  EXPECT_EQ(NodeCache::PerProcess({directory_.path(), 32ull << 20}).value(), &cache_);
  EXPECT_EQ(cache_.folder().limit(), 32ull << 20);
}

TEST_F(NodeCacheTest, FetchesAreExclusiveWithinTheProcess) {
  const auto first = cache_.BeginFetches(hash_, 0, 4);
  ASSERT_EQ(first.size(), 4u);
  EXPECT_TRUE(cache_.BeginFetches(hash_, 2, 4).empty());
  EXPECT_EQ(cache_.BeginFetches(hash_, 4, 1).size(), 1u);
  EXPECT_EQ(cache_.Find({hash_, 3}), first[3]);
  for (std::uint64_t i = 0; i <= 4; ++i)
    cache_.Fail(cache_.Find({hash_, i}), Error::Make(ErrorKind::kCancelled, "planned"));
  EXPECT_EQ(cache_.in_flight(), 0u);
  EXPECT_EQ(first[0]->error->message, "planned");
}

TEST_F(NodeCacheTest, ACompletedBlockIsStored) {
  const auto begun = cache_.BeginFetches(hash_, 0, 1);
  Complete(begun[0], MakeContent(5000));
  WaitUntilStored();
  EXPECT_EQ(begun[0]->state, BlockFetch::State::kReady);
  EXPECT_TRUE(cache_.folder().Has({hash_, 0}));
  EXPECT_TRUE(cache_.BeginFetches(hash_, 0, 1).empty());  // the cache has it
}

TEST_F(NodeCacheTest, DropRemovesAllBlocksOfAVersion) {
  const Bytes block = MakeContent(kCacheBlockBytes);
  for (const auto& fetch : cache_.BeginFetches(hash_, 0, 3)) Complete(fetch, block);
  WaitUntilStored();
  EXPECT_EQ(directory_.Blocks().size(), 3u);
  cache_.Drop(version_, 3 * kCacheBlockBytes, "planned");
  EXPECT_TRUE(directory_.Blocks().empty());
}

TEST_F(NodeCacheTest, VerificationBelongsToOneFile) {
  Complete(cache_.BeginFetches(hash_, 0, 1)[0], MakeContent(5000));
  WaitUntilStored();
  const BlockId id{hash_, 0};
  auto block = cache_.folder().OpenForRead(id);
  ASSERT_TRUE(block.has_value());
  EXPECT_FALSE(cache_.IsVerified(id, *block));
  cache_.SetVerified(id, *block);
  EXPECT_TRUE(cache_.IsVerified(id, *block));
  ++block->changed;
  EXPECT_FALSE(cache_.IsVerified(id, *block));
}

TEST(NodeCachePerProcessTest, AnUnusableDirectoryIsNoError) {
  EXPECT_EQ(NodeCache::PerProcess({"/proc/no/such/place", std::nullopt}).value(), nullptr);
  EXPECT_EQ(NodeCache::PerProcess({"relative", std::nullopt}).error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::cache
