#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>

#include "client/cache/cache_test_support.h"
#include "penstock/node_cache.h"

namespace penstock::cache {
namespace {

class InspectTest : public ::testing::Test {
 protected:
  InspectTest() {
    for (const std::string key : {"a", "b"}) {
      const ETag etag = cached_.Put(key, MakeContent(1'500'000, key[0]));
      CollectingSink sink;
      auto request = cached_.Get(key, sink);
      request.if_match = etag;
      PENSTOCK_CHECK(cached_.Read(std::move(request)).ok());
    }
    cached_.WaitUntilStored();
  }

  CachedStore cached_;
  const std::string& directory() const { return cached_.directory.path(); }
};

TEST_F(InspectTest, ListsBlocksWithTheirObjects) {
  std::uint64_t bytes = 0;
  int blocks = 0;
  ASSERT_TRUE(ListCache(directory(), [&](const CacheEntry& entry) {
                EXPECT_EQ(entry.bucket, "data");
                EXPECT_EQ(entry.endpoint, "test");
                EXPECT_EQ(entry.object_size, 1'500'000u);
                EXPECT_EQ(entry.offset, entry.size == kCacheBlockBytes ? 0 : kCacheBlockBytes);
                bytes += entry.size;
                return ++blocks > 0;
              }).ok());
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(bytes, 3'000'000u);
}

TEST_F(InspectTest, CountsWhatHappened) {
  cached_.cache->folder().Flush();
  const auto stats = ReadCacheStats(directory());
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->stored, 4u);
  EXPECT_EQ(stats->miss_bytes, 3'000'000u);
  EXPECT_GE(stats->stored_bytes, 3'000'000u);
}

TEST_F(InspectTest, VerifyRemovesDamagedBlocks) {
  Overwrite(cached_.directory.Blocks().front(), 1000, '\x01');
  Overwrite(cached_.directory.Blocks().front(), 1001, '\x02');
  const auto check = VerifyCache(directory());
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->damaged, 1u);
  EXPECT_EQ(check->blocks, 3u);
  EXPECT_EQ(cached_.directory.Blocks().size(), 3u);
}

TEST_F(InspectTest, VerifyNamesWhatItCannotRemoveAndChecksTheRest) {
  const auto blocks = cached_.directory.Blocks();
  Overwrite(blocks[1], 1000, '\x01');
  Overwrite(blocks[1], 1001, '\x02');
  std::filesystem::remove(blocks[0]);
  std::filesystem::create_directory(blocks[0]);
  for (int times = 0; times < 2; ++times) {
    const auto check = VerifyCache(directory());
    ASSERT_FALSE(check.ok());
    EXPECT_NE(check.error().message.find("cannot remove '" + blocks[0].string() + "'"),
              std::string::npos)
        << check.error().message;
    EXPECT_EQ(ReadCacheStats(directory())->damaged, 1u);
  }
  std::filesystem::remove(blocks[0]);
  EXPECT_EQ(VerifyCache(directory())->blocks, 2u);
}

TEST_F(InspectTest, VerifyDoesNotCallEvictedBlocksDamaged) {
  const auto blocks = cached_.directory.Blocks();
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) std::filesystem::remove(blocks[i]);
  const std::string block = blocks.back();
  const std::string kept = directory() + "/kept";
  ASSERT_EQ(::link(block.c_str(), kept.c_str()), 0);
  std::atomic<bool> done = false;
  std::thread evicting([&] {
    while (!done) {
      ::unlink(block.c_str());
      static_cast<void>(::link(kept.c_str(), block.c_str()));
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const auto check = VerifyCache(directory());
    if (!check.ok() || check->damaged > 0) {
      ADD_FAILURE() << "run " << i;
      break;
    }
  }
  done = true;
  evicting.join();
}

TEST_F(InspectTest, PruneKeepsAtMostTheGivenBytes) {
  const auto some = PruneCache(directory(), 2'000'000);
  ASSERT_TRUE(some.ok());
  EXPECT_LE(some->kept_bytes, 2'000'000u);
  EXPECT_GT(some->removed, 0u);
  const auto all = PruneCache(directory(), 0);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->kept_bytes, 0u);
  EXPECT_TRUE(cached_.directory.Blocks().empty());
  EXPECT_EQ(ReadCacheStats(directory())->stored_bytes, 0u);
}

TEST(InspectCacheTest, ADirectoryWithoutACacheIsNotFound) {
  const TemporaryDirectory empty;
  EXPECT_EQ(ReadCacheStats(empty.path()).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(VerifyCache("/nowhere/at/all").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(PruneCache("relative", 0).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ParseCacheSizeTest, TakesUnits) {
  EXPECT_EQ(ParseCacheSize("cache_size", "500GB").value(), 500'000'000'000u);
  EXPECT_EQ(ParseCacheSize("cache_size", "16MiB").value(), kMinCacheBytes);
  EXPECT_EQ(ParseCacheSize("cache_size", "1.5TiB").value(), 3ull << 39);
  EXPECT_EQ(ParseCacheSize("cache_size", "20000000").value(), 20'000'000u);
}

TEST(ParseCacheSizeTest, NamesTheSettingAndTheValue) {
  for (const std::string text : {"", "15MiB", "-5GB", "5 G", "GB", "1e30", "nan", "inf"}) {
    const auto parsed = ParseCacheSize("cache_size", text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("cache_size"), std::string::npos);
    EXPECT_NE(parsed.error().message.find("`" + text + "`"), std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::cache
