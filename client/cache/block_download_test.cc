#include "client/cache/block_download.h"

#include <gtest/gtest.h>

#include "client/cache/cache_test_support.h"

namespace penstock::cache {
namespace {

class BlockDownloadTest : public ::testing::Test {
 protected:
  // Downloads blocks [first, first + count), and waits for their end.
  std::vector<FlightPtr> Download(const ETag& etag, std::uint64_t first, std::uint64_t count) {
    BlockDownload download;
    download.version = {"test", "data", "a", etag.value};
    download.flights = cached_.cache->Claim(HashOf(download.version), first, count);
    std::vector<FlightPtr> flights = download.flights;
    StartBlockDownload(*cached_.cache, cached_.backend, std::move(download));
    cached_.Settle();
    return flights;
  }

  CachedStore cached_;
};

TEST_F(BlockDownloadTest, OneRequestBringsAllBlocks) {
  const Bytes content = MakeContent(2 * kCacheBlockBytes + 10);
  const auto flights = Download(cached_.Put("a", content), 0, 3);
  ASSERT_EQ(flights.size(), 3u);
  EXPECT_EQ(cached_.gets, 1);
  for (const FlightPtr& flight : flights) {
    ASSERT_EQ(flight->state, Flight::State::kReady);
    EXPECT_TRUE(std::ranges::equal(
        flight->data->view(),
        ByteView(content).subspan(flight->id.index * kCacheBlockBytes, flight->data->size)));
  }
}

TEST_F(BlockDownloadTest, BlocksBeyondTheEndFail) {
  const auto flights = Download(cached_.Put("a", MakeContent(10)), 0, 2);
  EXPECT_EQ(flights[0]->state, Flight::State::kReady);
  EXPECT_EQ(flights[1]->state, Flight::State::kFailed);
}

TEST_F(BlockDownloadTest, AnotherVersionIsAnError) {
  cached_.Put("a", MakeContent(10));
  const auto flights = Download(ETag("00000000000000000000000000000000"), 0, 1);
  EXPECT_EQ(flights[0]->error->kind, ErrorKind::kPreconditionFailed);
}

}  // namespace
}  // namespace penstock::cache
