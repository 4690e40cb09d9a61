#include "client/cache/cached_read.h"

#include <gtest/gtest.h>

#include <random>
#include <stop_token>
#include <thread>

#include "client/cache/cache_test_support.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::cache {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(CachedReadTest, DownloadsAnObjectOnce) {
  CachedStore cached;
  const Bytes content = MakeContent(3 * kMiB + 12'345);
  const ETag etag = cached.Put("a", content);
  for (const bool first : {true, false}) {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.if_match = etag;
    const auto read = cached.Read(std::move(request));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(sink.bytes, content);
    EXPECT_EQ(read->size, content.size());
    EXPECT_EQ(read->etag, etag);
    EXPECT_EQ(cached.downloaded, first ? content.size() : 0);
    EXPECT_EQ(cached.gets > 0, first);
    cached.ResetCounts();
  }
  EXPECT_EQ(cached.directory.Blocks().size(), 4u);
}

TEST(CachedReadTest, ReadsWithoutAnETagAskForTheCurrentVersion) {
  CachedStore cached;
  for (int version = 1; version <= 2; ++version) {
    const Bytes content = MakeContent(kMiB + 7, version);
    cached.Put("a", content);
    for (int times = 0; times < 2; ++times) {
      CollectingSink sink;
      ASSERT_TRUE(cached.Read(cached.Get("a", sink)).ok());
      EXPECT_EQ(sink.bytes, content);
      EXPECT_EQ(cached.heads, 1);
      EXPECT_EQ(cached.downloaded, times == 0 ? content.size() : 0);
      cached.ResetCounts();
    }
  }
}

TEST(CachedReadTest, RangesHaveTheBytesOfTheObject) {
  CachedStore cached;
  const Bytes content = MakeContent(5 * kMiB + 99);
  const ETag etag = cached.Put("a", content);
  std::mt19937_64 random(7);
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t begin = random() % content.size();
    const std::uint64_t end = begin + 1 + random() % (content.size() + kMiB - begin);
    CollectingSink sink(1 + random() % (2 * kMiB));
    auto request = cached.Get("a", sink);
    if (i % 3 != 0) request.if_match = etag;
    request.range = i % 5 == 0 ? RangeRequest{begin, {}, {}} : RangeRequest{begin, end, {}};
    if (i % 7 == 0) request.range = RangeRequest{{}, {}, begin + 1};
    std::uint64_t from = begin;
    std::uint64_t until = std::min<std::uint64_t>(end, content.size());
    if (i % 5 == 0) until = content.size();
    if (i % 7 == 0) {
      until = content.size();
      from = until - (begin + 1);
    }
    const auto read = cached.Read(std::move(request));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    ASSERT_EQ(sink.bytes, Bytes(content.begin() + static_cast<std::ptrdiff_t>(from),
                                content.begin() + static_cast<std::ptrdiff_t>(until)))
        << "read " << i << ": " << from << " to " << until;
    EXPECT_EQ(sink.seen.range, (ByteRange{from, until}));
  }
  cached.WaitUntilStored();
  EXPECT_LE(cached.downloaded, content.size());
}

TEST(CachedReadTest, ConcurrentReadsDownloadEachByteOnce) {
  CachedStore cached;
  const Bytes content = MakeContent(20 * kMiB + 1);
  const ETag etag = cached.Put("a", content);
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      CollectingSink sink;
      auto request = cached.Get("a", sink);
      request.if_match = etag;
      if (cached.Read(std::move(request)).ok() && sink.bytes == content) ++equal;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 8);
  cached.WaitUntilStored();
  EXPECT_EQ(cached.downloaded, content.size());
}

TEST(CachedReadTest, AListedVersionThatTheCacheHasNeedsNoRequest) {
  CachedStore cached;
  const Bytes old = MakeContent(2 * kMiB, 1);
  const ETag listed = cached.Put("a", old);
  const auto read = [&](Bytes& bytes) {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.listed_etag = listed;
    request.range = RangeRequest{0, 2 * kMiB, {}};
    const auto result = cached.Read(std::move(request));
    bytes = sink.bytes;
    return result.ok();
  };
  Bytes bytes;
  ASSERT_TRUE(read(bytes));
  EXPECT_EQ(cached.heads, 0);
  cached.ResetCounts();
  const Bytes replaced = MakeContent(2 * kMiB, 2);
  cached.Put("a", replaced);
  ASSERT_TRUE(read(bytes));
  EXPECT_EQ(bytes, old);
  EXPECT_EQ(cached.gets + cached.heads, 0);
  // Without one of its blocks, the listed version cannot be read any more.
  std::filesystem::remove(cached.directory.Blocks().back());
  ASSERT_TRUE(read(bytes));
  EXPECT_EQ(bytes, replaced);
}

TEST(CachedReadTest, AReplacedObjectOfAnotherSizeIsReadWhole) {
  for (const std::uint64_t size : {4 * kMiB + 5, kMiB / 2}) {
    CachedStore cached;
    const ETag listed = cached.Put("a", MakeContent(2 * kMiB, 1));
    CollectingSink first;
    auto request = cached.Get("a", first);
    request.listed_etag = listed;
    ASSERT_TRUE(cached.Read(request).ok());
    cached.WaitUntilStored();
    std::filesystem::remove(cached.directory.Blocks().back());  // the second block
    const Bytes replaced = MakeContent(size, 2);
    cached.Put("a", replaced);
    CollectingSink sink;
    request.sink = &sink;
    ASSERT_TRUE(cached.Read(request).ok());
    EXPECT_EQ(sink.bytes, replaced);
  }
}

TEST(CachedReadTest, AFileThatCannotBeReadOrRemovedIsNoObstacle) {
  CachedStore cached;
  const Bytes content = MakeContent(2 * kMiB);
  const ETag etag = cached.Put("a", content);
  CollectingSink first;
  auto request = cached.Get("a", first);
  request.if_match = etag;
  ASSERT_TRUE(cached.Read(request).ok());
  cached.WaitUntilStored();
  for (const std::filesystem::path& file : cached.directory.Blocks()) {
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
  }
  CollectingSink sink;
  request.sink = &sink;
  ASSERT_TRUE(cached.Read(request).ok());
  EXPECT_EQ(sink.bytes, content);
}

TEST(CachedReadTest, ADamagedFileIsDownloadedAgain) {
  CachedStore cached;
  const Bytes content = MakeContent(kMiB / 2);
  const ETag etag = cached.Put("a", content);
  const auto read = [&] {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.if_match = etag;
    request.range = RangeRequest{0, content.size(), {}};
    EXPECT_TRUE(cached.Read(std::move(request)).ok());
    EXPECT_EQ(sink.bytes, content);
    cached.WaitUntilStored();
  };
  read();
  const auto file = cached.directory.Blocks().front();
  const std::uint64_t size = std::filesystem::file_size(file);
  for (const std::uint64_t at :
       {std::uint64_t{0}, std::uint64_t{kMiB / 2 - 1}, kMiB / 2 + 3, size - 20, size - 1}) {
    cached.ResetCounts();
    Overwrite(file, at, static_cast<char>(0x5a ^ static_cast<int>(at)));
    read();
    EXPECT_EQ(cached.gets, 1) << "byte " << at;
  }
  for (const std::uint64_t left : {size - 1, kMiB / 2, std::uint64_t{100}, std::uint64_t{0}}) {
    cached.ResetCounts();
    std::filesystem::resize_file(file, left);
    read();
    EXPECT_EQ(cached.gets, 1) << left << " bytes";
  }
  EXPECT_EQ(cached.cache->folder().stats().damaged, 9u);
}

TEST(CachedReadTest, ReadsWorkIfTheCacheCannotBeWritten) {
  CachedStore cached;
  for (int i = 0; i < 256; ++i) {  // files where the folders of blocks should be
    char name[3];
    std::snprintf(name, sizeof name, "%02x", static_cast<unsigned>(i));
    std::ofstream(cached.directory.path() + "/v2/" + name);
  }
  const Bytes content = MakeContent(2 * kMiB);
  const ETag etag = cached.Put("a", content);
  for (int times = 0; times < 2; ++times) {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.if_match = etag;
    ASSERT_TRUE(cached.Read(std::move(request)).ok());
    EXPECT_EQ(sink.bytes, content);
    cached.WaitUntilStored();
  }
  EXPECT_GT(cached.cache->folder().stats().errors, 0u);
}

TEST(CachedReadTest, ACachedReadReturnsTheSameMetadata) {
  CachedStore cached;
  const Bytes content = MakeContent(3000);
  auto body = std::make_unique<penstock::testing::TextSource>(std::string(AsText(content)));
  PutObjectRequest put{.bucket = cached.bucket, .key = ObjectKey("a"), .body = body.get()};
  put.attributes.content_encoding = "gzip";
  put.attributes.cache_control = "no-cache";
  const ETag etag = cached.store->Call(std::move(put)).value().etag;
  for (int times = 0; times < 2; ++times) {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.if_match = etag;
    const auto read = cached.Read(std::move(request));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->details->content_encoding, "gzip") << times;
    EXPECT_EQ(sink.seen.details->cache_control, "no-cache") << times;
    cached.WaitUntilStored();
  }
  EXPECT_EQ(cached.gets, 1);
}

TEST(CachedReadTest, ABodyThatBeginsAgainIsStoredOnce) {
  CachedStore cached;
  const Bytes content = MakeContent(3 * kMiB);
  const ETag etag = cached.Put("a", content);
  auto faulty = std::make_shared<penstock::testing::FaultyObjectStore>(
      cached.store, [](const penstock::testing::CallPoint& call) {
        std::optional<penstock::testing::Fault> fault;
        if (call.operation == "GetObject") {
          fault = {.error = Error::Make(ErrorKind::kUnavailable, "reset"),
                   .moment = penstock::testing::Fault::Moment::kRetried,
                   .body_bytes = kMiB + 5};
        }
        return fault;
      });
  cached.UseStore(faulty);
  for (int times = 0; times < 2; ++times) {
    CollectingSink sink;
    auto request = cached.Get("a", sink);
    request.if_match = etag;
    request.range = RangeRequest{0, content.size(), {}};
    ASSERT_TRUE(cached.Read(std::move(request)).ok());
    EXPECT_EQ(sink.bytes, content);
    EXPECT_EQ(cached.gets, times == 0 ? 1 : 0);
    cached.ResetCounts();
  }
}

TEST(CachedReadTest, ErrorsOfTheDownloadReachTheCaller) {
  CachedStore cached;
  const ETag etag = cached.Put("a", MakeContent(3 * kMiB));
  auto faulty = std::make_shared<penstock::testing::FaultyObjectStore>(
      cached.store, [](const penstock::testing::CallPoint& call) {
        std::optional<penstock::testing::Fault> fault;
        if (call.operation == "GetObject") {
          fault = {.error = Error::Make(ErrorKind::kUnavailable, "reset"),
                   .moment = penstock::testing::Fault::Moment::kMidBody,
                   .body_bytes = kMiB + 5};
        }
        return fault;
      });
  cached.UseStore(faulty);
  CollectingSink sink;
  auto request = cached.Get("a", sink);
  request.if_match = etag;
  const auto read = cached.Read(std::move(request));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kUnavailable);
}

TEST(CachedReadTest, ErrorsOfS3AreThoseOfGetObject) {
  CachedStore cached;
  cached.Put("a", MakeContent(100));
  cached.Put("empty", {});
  CollectingSink sink;
  EXPECT_EQ(cached.Read(cached.Get("none", sink)).error().code, "NoSuchKey");
  auto beyond = cached.Get("a", sink);
  beyond.range = RangeRequest{200, 300, {}};
  EXPECT_EQ(cached.Read(std::move(beyond)).error().http_status, 416);
  auto other = cached.Get("a", sink);
  other.if_match = ETag("0123456789abcdef0123456789abcdef");
  EXPECT_EQ(cached.Read(std::move(other)).error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_TRUE(cached.Read(cached.Get("empty", sink)).ok());
  EXPECT_TRUE(sink.bytes.empty());
}

TEST(CachedReadTest, ASinkMayStopEarly) {
  CachedStore cached;
  const ETag etag = cached.Put("a", MakeContent(30 * kMiB));
  CollectingSink sink(100'000);
  sink.stop_after = 300'000;
  auto request = cached.Get("a", sink);
  request.if_match = etag;
  EXPECT_EQ(cached.Read(std::move(request)).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(sink.position, 300'000u);
  cached.WaitUntilStored();
  EXPECT_LE(cached.downloaded, 3 * kMiB);
}

TEST(CachedReadTest, AStopEndsTheWaitForAnotherDownload) {
  CachedStore cached;
  const ETag etag = cached.Put("a", MakeContent(kMiB));
  // The lock of a download that never ends, as of a slow process.
  const std::string hash = HashOf({"test", "data", "a", etag.value});
  const auto begun = cached.cache->BeginFetches(hash, 0, 1);
  ASSERT_EQ(begun.size(), 1u);
  std::stop_source stop;
  stop.request_stop();
  CollectingSink sink;
  auto request = cached.Get("a", sink);
  request.if_match = etag;
  request.options.cancel = stop.get_token();
  EXPECT_EQ(cached.Read(std::move(request)).error().kind, ErrorKind::kCancelled);
  cached.cache->Fail(begun.front(), Error::Make(ErrorKind::kCancelled, "the test ends"));
}

TEST(CachedReadTest, TheCacheStaysWithinItsLimit) {
  CachedStore cached(kMinCacheBytes);
  const Bytes content = MakeContent(40 * kMiB);
  const ETag etag = cached.Put("a", content);
  for (int times = 0; times < 2; ++times) {
    for (std::uint64_t at = 0; at < content.size(); at += 4 * kMiB) {
      CollectingSink sink;
      auto request = cached.Get("a", sink);
      request.if_match = etag;
      request.range = RangeRequest{at, at + 4 * kMiB, {}};
      ASSERT_TRUE(cached.Read(std::move(request)).ok());
      ASSERT_TRUE(std::ranges::equal(
          sink.bytes, std::span(content).subspan(static_cast<std::size_t>(at), 4 * kMiB)));
      cached.WaitUntilStored();
      std::uint64_t bytes = 0;
      for (const auto& file : cached.directory.Blocks()) bytes += std::filesystem::file_size(file);
      EXPECT_LE(bytes, kMinCacheBytes);
    }
  }
  const CacheStats stats = cached.cache->folder().stats();
  EXPECT_GT(stats.evicted, 0u);
  // A loop over more than the cache has still hits what was kept.
  EXPECT_GT(stats.hits, 8u);
}

TEST(CachedReadTest, RequestsThatNeedS3AreNotCacheable) {
  CollectingSink sink;
  const GetObjectRequest plain{.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink};
  EXPECT_TRUE(IsCacheable(plain));
  GetObjectRequest request = plain;
  request.version_id = VersionId("v");
  EXPECT_FALSE(IsCacheable(request));
  request = plain;
  request.customer_key = CustomerKey::Create(AsBytes(std::string(32, 'k'))).value();
  EXPECT_FALSE(IsCacheable(request));
  request = plain;
  request.part_number = 1;
  EXPECT_FALSE(IsCacheable(request));
  request = plain;
  request.if_none_match = ETag("e");
  EXPECT_FALSE(IsCacheable(request));
  request = plain;
  request.options.extra_headers = {{"x-amz-a", "b"}};
  EXPECT_FALSE(IsCacheable(request));
  request = plain;
  request.options.expected_bucket_owner = "123456789012";
  EXPECT_FALSE(IsCacheable(request));
}

}  // namespace
}  // namespace penstock::cache
