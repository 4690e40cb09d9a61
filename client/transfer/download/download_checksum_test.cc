// Downloads with several requests, compared with the checksum of the whole object.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "client/transfer/checksummed_store_test_support.h"
#include "client/transfer/progress_meter.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

class DownloadChecksumTest : public ::testing::TestWithParam<Completion> {
 protected:
  Result<DownloadResponse> Get(ObjectStore& store, DownloadRequest request = {}) {
    request.bucket = kBucket;
    request.key = kKey;
    request.options.part_size_bytes = 10;
    request.options.max_parallel_parts = 3;
    request.destination = [this](std::uint64_t size) -> Result<MutableByteView> {
      memory_.assign(size, std::byte{0});
      return MutableByteView(memory_);
    };
    return Download(store, std::move(request));
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  const Bytes content_ = MakeContent(1005);
  const ETag etag_ = Put(*inner_, content_);
  const std::string checksum_ = Crc64Text(content_);
  Bytes memory_;
};

TEST_P(DownloadChecksumTest, PartsMatchTheObjectsChecksum) {
  ChecksummedStore store(inner_, checksum_);
  const auto result = Get(store);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(memory_, content_);
  EXPECT_EQ(store.followed, 1);
  EXPECT_GT(store.count("GetObject"), 1u);
}

TEST_P(DownloadChecksumTest, FlippedBitIsDataLossThatNamesBothValues) {
  for (const std::uint64_t where : {0u, 9u, 10u, 500u, 1004u}) {
    ChecksummedStore store(inner_, checksum_);
    store.flip = where;
    const auto result = Get(store);
    ASSERT_FALSE(result.ok()) << where;
    EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
    EXPECT_EQ(result.error().key, kKey.value);
    EXPECT_NE(result.error().message.find(checksum_), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find(Crc64Text(memory_)), std::string::npos)
        << result.error().message;
  }
}

TEST_P(DownloadChecksumTest, AnObjectWithADifferenceIsReadOnceMore) {
  for (const std::uint64_t where : {0u, 9u, 10u, 500u, 1004u}) {
    ChecksummedStore store(inner_, checksum_);
    store.flip = where;
    store.flips_left = 1;
    const auto result = Get(store);
    ASSERT_TRUE(result.ok()) << where << ": " << result.error().ToString();
    EXPECT_EQ(result->bytes, content_.size());
    EXPECT_EQ(memory_, content_);
  }
}

TEST_P(DownloadChecksumTest, ADifferenceInTheSecondReadIsFinal) {
  ChecksummedStore store(inner_, checksum_);
  store.flip = 500;
  store.flips_left = 2;
  const auto result = Get(store);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(result.error().message.find("read twice"), std::string::npos) << result.error().message;
  EXPECT_EQ(store.flips_left, 0);
}

TEST_P(DownloadChecksumTest, WithOneAttemptThereIsNoSecondRead) {
  ChecksummedStore store(inner_, checksum_);
  store.flip = 500;
  store.flips_left = 1;
  store.repeats = false;
  const auto result = Get(store);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(result.error().message.find("read twice"), std::string::npos);
}

// Calls run one after the other, so that a test can count them.
class SecondReadTest : public DownloadChecksumTest {
 protected:
  std::uint64_t CallsOfOneRead() {
    ChecksummedStore good(inner_, checksum_);
    EXPECT_TRUE(Get(good).ok());
    return good.count("GetObject");
  }
};

TEST_P(SecondReadTest, ProgressNeverDecreases) {
  const auto of_one_read = CallsOfOneRead();
  ChecksummedStore store(inner_, checksum_, [&](const CallPoint& point) -> std::optional<Fault> {
    // The last part of the first read and the first part of the second one take long enough to be
    // reported.
    if (point.ordinal + 1 == of_one_read || point.ordinal == of_one_read)
      std::this_thread::sleep_for(ProgressMeter::kInterval);
    return std::nullopt;
  });
  store.flip = 500;
  store.flips_left = 1;
  DownloadRequest request;
  std::vector<std::uint64_t> reported;
  request.options.progress = [&](const TransferProgress& progress) {
    reported.push_back(progress.bytes_done);
  };
  ASSERT_TRUE(Get(store, std::move(request)).ok());
  ASSERT_GE(reported.size(), 3u) << "one of each read, and the end";
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.back(), content_.size());
}

TEST_P(SecondReadTest, IsOfTheSameVersion) {
  const auto of_one_read = CallsOfOneRead();
  ChecksummedStore store(inner_, checksum_, [&](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal == of_one_read) Put(*inner_, MakeContent(1006));
    return std::nullopt;
  });
  store.flip = 500;
  store.flips_left = 1;
  const auto result = Get(store);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kPreconditionFailed) << result.error().ToString();
  EXPECT_NE(result.error().message.find(checksum_), std::string::npos) << result.error().message;
}

TEST_P(DownloadChecksumTest, RetriedPartsCountOnce) {
  ChecksummedStore store(inner_, checksum_, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal % 2 == 0)
      return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, 3);
    return std::nullopt;
  });
  const auto result = Get(store);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(memory_, content_);
}

TEST_P(DownloadChecksumTest, VerifiesPartsThatStartBeforeTheChecksumIsKnown) {
  DownloadRequest request;
  request.known_size = content_.size();
  request.known_etag = etag_;
  ChecksummedStore store(inner_, checksum_);
  ASSERT_TRUE(Get(store, request).ok());
  EXPECT_EQ(memory_, content_);
  store.flip = 1000;
  EXPECT_EQ(Get(store, request).error().kind, ErrorKind::kDataLoss);
}

TEST_P(DownloadChecksumTest, DoesNotVerifyARangeOfTheObject) {
  DownloadRequest request;
  request.begin = 1;
  ChecksummedStore store(inner_, checksum_);
  EXPECT_TRUE(Get(store, request).ok());
}

TEST_P(DownloadChecksumTest, StoreVerifiesASingleResponse) {
  const Bytes small = MakeContent(10);
  Put(*inner_, small);
  ChecksummedStore store(inner_, Crc64Text(small));
  ASSERT_TRUE(Get(store).ok());
  EXPECT_EQ(memory_, small);
  EXPECT_EQ(store.followed, 0);
}

INSTANTIATE_TEST_SUITE_P(Inline, SecondReadTest, ::testing::Values(Completion::kInline));
INSTANTIATE_TEST_SUITE_P(Completions, DownloadChecksumTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
