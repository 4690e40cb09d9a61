// Streams of several blocks, compared with the checksum of the whole object.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "client/transfer/checksummed_store_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;

class ObjectStreamChecksumTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::unique_ptr<ObjectStream> Open(ObjectStream::Source source = {}) {
    source.bucket = kBucket;
    source.key = kKey;
    StreamOptions options;
    options.part_size_bytes = 100;
    return ObjectStream::Open(store_, std::move(source), options);
  }

  // Reads until the end or an error.
  Result<void> Read(ObjectStream& stream) {
    for (;;) {
      PENSTOCK_ASSIGN(const std::optional<StreamBlock> block, stream.Next());
      if (!block) return Ok();
      read_.insert(read_.end(), block->data.get(), block->data.get() + block->size);
    }
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  const Bytes content_ = MakeContent(1005);
  const ETag etag_ = Put(*inner_, content_);
  std::shared_ptr<ChecksummedStore> store_ =
      std::make_shared<ChecksummedStore>(inner_, Crc64Text(content_));
  Bytes read_;
};

TEST_P(ObjectStreamChecksumTest, BlocksMatchTheObjectsChecksum) {
  const auto stream = Open();
  ASSERT_TRUE(Read(*stream).ok());
  EXPECT_EQ(read_, content_);
  EXPECT_EQ(store_->followed, 1);
  EXPECT_EQ(store_->count("GetObject"), 11u);
}

TEST_P(ObjectStreamChecksumTest, FlippedBitWithholdsTheLastBlock) {
  for (const std::uint64_t where : {0u, 99u, 100u, 500u, 1004u}) {
    store_ = std::make_shared<ChecksummedStore>(inner_, Crc64Text(content_));
    store_->flip = where;
    read_.clear();
    const auto stream = Open();
    const Result<void> result = Read(*stream);
    ASSERT_FALSE(result.ok()) << where;
    EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
    EXPECT_EQ(result.error().key, kKey.value);
    EXPECT_NE(result.error().message.find(Crc64Text(content_)), std::string::npos)
        << result.error().message;
    EXPECT_EQ(read_.size(), 1000u);
    EXPECT_EQ(stream->Next().error().kind, ErrorKind::kDataLoss);  // the error is final
  }
}

TEST_P(ObjectStreamChecksumTest, RetriedBlocksCountOnce) {
  store_ = std::make_shared<ChecksummedStore>(
      inner_, Crc64Text(content_), [](const CallPoint& point) -> std::optional<Fault> {
        if (point.ordinal % 2 == 0)
          return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, 3);
        return std::nullopt;
      });
  const auto stream = Open();
  const Result<void> result = Read(*stream);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(read_, content_);
}

TEST_P(ObjectStreamChecksumTest, VerifiesAKnownVersion) {
  ObjectStream::Source source;
  source.known_size = content_.size();
  source.known_etag = etag_;
  EXPECT_TRUE(Read(*Open(source)).ok());
  EXPECT_EQ(read_, content_);
  store_->flip = 700;
  EXPECT_EQ(Read(*Open(source)).error().kind, ErrorKind::kDataLoss);
}

TEST_P(ObjectStreamChecksumTest, DoesNotVerifyARangeOfTheObject) {
  ObjectStream::Source source;
  source.begin = 1;
  EXPECT_TRUE(Read(*Open(source)).ok());
  source.begin = 0;
  source.end = 1004;
  EXPECT_TRUE(Read(*Open(source)).ok());
}

TEST_P(ObjectStreamChecksumTest, StoreVerifiesASingleResponse) {
  const Bytes small = MakeContent(100);
  Put(*inner_, small);
  store_ = std::make_shared<ChecksummedStore>(inner_, Crc64Text(small));
  ASSERT_TRUE(Read(*Open()).ok());
  EXPECT_EQ(read_, small);
  EXPECT_EQ(store_->followed, 0);
  EXPECT_EQ(store_->count("GetObject"), 1u);
}

// Ranges of a known version in arbitrary order, and bytes that were read before.
TEST_P(ObjectStreamChecksumTest, RangesAndEarlierBytesMatchTheObjectsChecksum) {
  const auto open = [&] {
    ObjectStream::Source source;
    source.known_size = content_.size();
    source.known_etag = etag_;
    source.ranges = {{600, 1000}, {50, 300}, {300, 600}};
    source.known_checksums = {{"crc64nvme", Crc64Text(content_)}};
    source.already_read = {{1000, ByteView(content_).subspan(1000)},
                           {0, ByteView(content_).first(50)}};
    return Open(source);
  };
  EXPECT_TRUE(Read(*open()).ok());
  for (const std::uint64_t where : {50u, 299u, 599u, 600u, 999u}) {
    store_->flip = where;
    read_.clear();
    const auto stream = open();
    EXPECT_EQ(Read(*stream).error().kind, ErrorKind::kDataLoss) << where;
    EXPECT_EQ(read_.size(), 850u);  // the last block is withheld
    EXPECT_EQ(stream->Next().error().kind, ErrorKind::kDataLoss);
  }
}

TEST_P(ObjectStreamChecksumTest, DoesNotVerifyRangesThatDoNotCoverTheObject) {
  store_->flip = 100;
  for (const std::vector<ByteRange>& ranges :
       {std::vector<ByteRange>{{50, 999}}, {{50, 1000}, {50, 60}}, {{0, 950}}}) {
    ObjectStream::Source source;
    source.known_size = content_.size();
    source.known_etag = etag_;
    source.ranges = ranges;
    source.known_checksums = {{"crc64nvme", Crc64Text(content_)}};
    source.already_read = {{0, ByteView(content_).first(50)},
                           {1000, ByteView(content_).subspan(1000)}};
    EXPECT_TRUE(Read(*Open(source)).ok()) << ranges[0].begin;
  }
}

INSTANTIATE_TEST_SUITE_P(Completions, ObjectStreamChecksumTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
