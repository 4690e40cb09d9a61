#include "client/cache/block_download.h"

#include <gtest/gtest.h>

#include "client/cache/cache_test_support.h"

namespace penstock::cache {
namespace {

class BlockDownloadTest : public ::testing::Test {
 protected:
  // Downloads blocks [first, first + count), and waits for their end.
  std::vector<BlockFetchPtr> Download(const ETag& etag, std::uint64_t first, std::uint64_t count) {
    BlockDownload download;
    download.version = {"test", "data", "a", etag.value};
    download.fetches = cached_.cache->BeginFetches(HashOf(download.version), first, count);
    std::vector<BlockFetchPtr> fetches = download.fetches;
    StartBlockDownload(*cached_.cache, cached_.backend, std::move(download));
    cached_.WaitUntilStored();
    return fetches;
  }

  CachedStore cached_;
};

TEST_F(BlockDownloadTest, OneRequestBringsAllBlocks) {
  const Bytes content = MakeContent(2 * kCacheBlockBytes + 10);
  const auto fetches = Download(cached_.Put("a", content), 0, 3);
  ASSERT_EQ(fetches.size(), 3u);
  EXPECT_EQ(cached_.gets, 1);
  for (const BlockFetchPtr& fetch : fetches) {
    ASSERT_EQ(fetch->state, BlockFetch::State::kReady);
    EXPECT_TRUE(std::ranges::equal(
        fetch->data->view(),
        ByteView(content).subspan(fetch->id.index * kCacheBlockBytes, fetch->data->size)));
  }
}

TEST_F(BlockDownloadTest, BlocksBeyondTheEndFail) {
  const auto fetches = Download(cached_.Put("a", MakeContent(10)), 0, 2);
  EXPECT_EQ(fetches[0]->state, BlockFetch::State::kReady);
  EXPECT_EQ(fetches[1]->state, BlockFetch::State::kFailed);
}

TEST_F(BlockDownloadTest, AnotherVersionIsAnError) {
  cached_.Put("a", MakeContent(10));
  const auto fetches = Download(ETag("00000000000000000000000000000000"), 0, 1);
  EXPECT_EQ(fetches[0]->error->kind, ErrorKind::kPreconditionFailed);
}

}  // namespace
}  // namespace penstock::cache
