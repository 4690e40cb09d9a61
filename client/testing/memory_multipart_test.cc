#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/testing/memory_state.h"
#include "client/testing/test_bodies.h"

namespace penstock::testing {
namespace {

const BucketName kBucket("b");
const ObjectKey kKey("k");

class MemoryMultipartTest : public ::testing::Test {
 protected:
  explicit MemoryMultipartTest(std::uint64_t least = 4) {
    MemoryObjectStoreOptions options;
    options.min_part_size_bytes = least;
    state_ = std::make_unique<MemoryState>(options);
    EXPECT_TRUE(state_->Apply(CreateBucketRequest{kBucket, {}}).ok());
    CreateMultipartUploadRequest create;
    create.bucket = kBucket;
    create.key = kKey;
    id_ = state_->Apply(create).value().upload_id;
  }

  Result<CompletedPart> Send(int number, const std::string& text) {
    TextSource source(text);
    UploadPartRequest request;
    request.bucket = kBucket;
    request.key = kKey;
    request.upload_id = id_;
    request.part_number = number;
    request.body = &source;
    return state_->Apply(request);
  }

  Result<PutObjectResponse> Complete(std::vector<CompletedPart> parts, std::uint64_t size,
                                     std::optional<std::uint64_t> crc64nvme = std::nullopt) {
    CompleteMultipartUploadRequest request;
    request.crc64nvme = crc64nvme;
    request.bucket = kBucket;
    request.key = kKey;
    request.upload_id = id_;
    request.parts = std::move(parts);
    request.object_size = size;
    return state_->Apply(request);
  }

  Result<std::string> Get() {
    TextSink sink;
    GetObjectRequest request;
    request.bucket = kBucket;
    request.key = kKey;
    request.sink = &sink;
    PENSTOCK_TRY(state_->Apply(request));
    return sink.text();
  }

  std::unique_ptr<MemoryState> state_;
  UploadId id_;
};

TEST_F(MemoryMultipartTest, VerifiesTheChecksumOfTheWholeObject) {
  const CompletedPart first = Send(1, "12345").value();
  const CompletedPart second = Send(2, "6789").value();
  EXPECT_EQ(Complete({first, second}, 9, 1).error().code, "BadDigest");
  EXPECT_TRUE(Complete({first, second}, 9, 0xae8b14860a799888).ok());
}

TEST_F(MemoryMultipartTest, JoinsPartsInOrderAndComputesTheirETag) {
  const auto second = Send(2, "world");
  const auto first = Send(1, "hello ");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto done = Complete({*first, *second}, 11);
  ASSERT_TRUE(done.ok());
  // python: md5(md5(b"hello ").digest() + md5(b"world").digest()).hexdigest() + "-2"
  EXPECT_EQ(done->etag.value, "e09e4fd6265b36115fe3db32df945d84-2");
  EXPECT_EQ(Get().value(), "hello world");
}

TEST_F(MemoryMultipartTest, NothingIsVisibleBeforeComplete) {
  ASSERT_TRUE(Send(1, "hello").ok());
  EXPECT_EQ(Get().error().code, "NoSuchKey");
}

TEST_F(MemoryMultipartTest, ARepeatedCompleteSucceeds) {
  const auto part = Send(1, "hello");
  const auto first = Complete({*part}, 5);
  const auto second = Complete({*part}, 5);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->etag, second->etag);
}

TEST_F(MemoryMultipartTest, RejectsSmallPartsExceptTheLast) {
  const auto small = Send(1, "abc");
  const auto last = Send(2, "d");
  EXPECT_EQ(Complete({*small, *last}, 4).error().code, "EntityTooSmall");
  EXPECT_TRUE(Complete({*small}, 3).ok());
}

TEST_F(MemoryMultipartTest, PartsMustBeAscending) {
  const auto one = Send(1, "aaaa");
  const auto two = Send(2, "bbbb");
  EXPECT_EQ(Complete({*two, *one}, 8).error().code, "InvalidPartOrder");
}

TEST_F(MemoryMultipartTest, PartsMustExistWithTheirETag) {
  auto part = Send(1, "aaaa").value();
  part.etag = ETag("0000");
  EXPECT_EQ(Complete({part}, 4).error().code, "InvalidPart");
  EXPECT_EQ(Complete({}, 0).error().code, "InvalidRequest");
}

TEST_F(MemoryMultipartTest, ObjectSizeMustMatch) {
  const auto part = Send(1, "aaaa");
  EXPECT_EQ(Complete({*part}, 5).error().code, "InvalidRequest");
}

TEST_F(MemoryMultipartTest, AnAbortedUploadIsRemoved) {
  ASSERT_TRUE(Send(1, "aaaa").ok());
  AbortMultipartUploadRequest abort;
  abort.bucket = kBucket;
  abort.key = kKey;
  abort.upload_id = id_;
  ASSERT_TRUE(state_->Apply(abort).ok());
  EXPECT_EQ(state_->Apply(abort).error().code, "NoSuchUpload");
  EXPECT_EQ(Send(2, "bbbb").error().code, "NoSuchUpload");
}

TEST_F(MemoryMultipartTest, PartNumbersAreOneToTenThousand) {
  EXPECT_FALSE(Send(0, "a").ok());
  EXPECT_FALSE(Send(10'001, "a").ok());
  EXPECT_TRUE(Send(10'000, "a").ok());
}

TEST_F(MemoryMultipartTest, ListsPartsAndUploads) {
  ASSERT_TRUE(Send(3, "abc").ok());
  ListPartsRequest parts;
  parts.bucket = kBucket;
  parts.key = kKey;
  parts.upload_id = id_;
  const auto listed = state_->Apply(parts);
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->parts.size(), 1u);
  EXPECT_EQ(listed->parts[0].size, 3u);
  ListMultipartUploadsRequest uploads;
  uploads.bucket = kBucket;
  EXPECT_EQ(state_->Apply(uploads).value().uploads.size(), 1u);
  uploads.key_marker = kKey.value;
  EXPECT_TRUE(state_->Apply(uploads).value().uploads.empty());
}

TEST_F(MemoryMultipartTest, CopiesARangeAsAPart) {
  TextSource source("0123456789");
  PutObjectRequest put;
  put.bucket = kBucket;
  put.key = ObjectKey("source");
  put.body = &source;
  ASSERT_TRUE(state_->Apply(put).ok());
  UploadPartCopyRequest copy;
  copy.source_bucket = copy.bucket = kBucket;
  copy.source_key = ObjectKey("source");
  copy.source_range = ByteRange{2, 6};
  copy.key = kKey;
  copy.upload_id = id_;
  copy.part_number = 1;
  const auto part = state_->Apply(copy);
  ASSERT_TRUE(part.ok());
  ASSERT_TRUE(Complete({*part}, 4).ok());
  EXPECT_EQ(Get().value(), "2345");
}

}  // namespace
}  // namespace penstock::testing
