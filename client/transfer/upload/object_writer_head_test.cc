// An object whose first bytes are replaced after the others have been written, and the checksums
// that WriteNoCopyWithCrc returns.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/crc/crc.h"
#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

constexpr std::size_t kKiB = 1 << 10;
constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kHead = 100 * kKiB;

class HeadTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectWriter> Open(UploadOptions options = {}) {
    return ObjectWriter::Create(store_, kBucket, kKey, std::move(options));
  }
  static UploadOptions Parts() {
    UploadOptions options;
    options.single_put_limit_bytes = 0;
    options.part_size_bytes = 2 * kMiB;
    options.min_part_size_bytes = kMiB;
    return options;
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore();
  std::shared_ptr<FaultyObjectStore> store_ = std::make_shared<FaultyObjectStore>(inner_, nullptr);
};

class HeadSizeTest : public HeadTest, public ::testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Sizes, HeadSizeTest,
                         ::testing::Values(kHead, 700 * kKiB, 1 * kMiB, 1 * kMiB + 1,
                                           4 * kMiB + 17));

TEST_P(HeadSizeTest, FirstBytesAreReplacedBeforeFinish) {
  UploadOptions hinted = Parts();
  hinted.single_put_limit_bytes = 64 * kMiB;
  hinted.size_hint_bytes = 100 * kMiB;
  for (const UploadOptions& options : {UploadOptions{}, hinted, Parts()}) {
    for (const bool drains : {false, true}) {
      const Bytes content = MakeContent(GetParam());
      const auto writer = Open(options);
      ASSERT_TRUE(writer->ReserveHead(kHead).ok());
      ASSERT_TRUE(writer->Write(Bytes(kHead)).ok());
      ByteView rest = ByteView(content).subspan(kHead);
      while (!rest.empty()) {
        const ByteView piece = rest.first(std::min(rest.size(), 700 * kKiB));
        ASSERT_TRUE(writer->WriteNoCopy(piece).ok());
        if (drains) {
          ASSERT_TRUE(writer->Drain().ok());
        }
        rest = rest.subspan(piece.size());
      }
      EXPECT_FALSE(Stored(*inner_).has_value());
      ASSERT_TRUE(writer->ReplaceHead(ByteView(content).first(kHead)).ok());
      EXPECT_EQ(writer->bytes_written(), content.size());
      const Result<UploadResponse> finished = writer->Finish();
      ASSERT_TRUE(finished.ok()) << finished.error().ToString();
      EXPECT_EQ(finished->bytes, content.size());
      EXPECT_TRUE(Stored(*inner_) == content);
      DeleteObjectRequest remove;
      remove.bucket = kBucket;
      remove.key = kKey;
      ASSERT_TRUE(inner_->Call(std::move(remove)).ok());
    }
  }
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(HeadTest, OtherPartsAreSentBeforeTheFirst) {
  const Bytes content = MakeContent(5 * kMiB);
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->ReserveHead(kHead).ok());
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  ASSERT_TRUE(writer->Drain().ok());
  EXPECT_EQ(store_->count("UploadPart"), 2u);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 3u);
  EXPECT_TRUE(Stored(*inner_) == content);
}

TEST_F(HeadTest, TheFirstPartHasTheSizeOfTheOthers) {
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->ReserveHead(kHead).ok());
  const Bytes content = MakeContent(6 * kMiB);
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 3u);  // some services require equal parts
}

TEST_F(HeadTest, HeadLargerThanAPartIsOnePart) {
  const Bytes content = MakeContent(5 * kMiB);
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->ReserveHead(3 * kMiB).ok());
  ASSERT_TRUE(writer->Write(Bytes(3 * kMiB)).ok());
  ASSERT_TRUE(writer->WriteNoCopy(ByteView(content).subspan(3 * kMiB)).ok());
  ASSERT_TRUE(writer->ReplaceHead(ByteView(content).first(3 * kMiB)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner_) == content);
}

TEST_F(HeadTest, RefusesAHeadThatIsNotReservedOrNotWritten) {
  const auto writer = Open();
  EXPECT_EQ(writer->ReplaceHead(MakeContent(1)).error().kind, ErrorKind::kInvalidArgument);
  ASSERT_TRUE(writer->ReserveHead(10).ok());
  ASSERT_TRUE(writer->Write(MakeContent(8)).ok());
  EXPECT_EQ(writer->ReserveHead(20).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer->ReplaceHead(MakeContent(9)).error().kind, ErrorKind::kInvalidArgument);
  ASSERT_TRUE(writer->Write(MakeContent(8)).ok());
  EXPECT_EQ(writer->ReplaceHead(MakeContent(11)).error().kind, ErrorKind::kInvalidArgument);
  ASSERT_TRUE(writer->ReplaceHead(MakeContent(10)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Stored(*inner_)->size(), 16u);
  EXPECT_EQ(writer->ReplaceHead(MakeContent(1)).error().kind, ErrorKind::kCancelled);
}

TEST_F(HeadTest, FailedFirstPartPublishesNothing) {
  store_ = std::make_shared<FaultyObjectStore>(inner_,
                                               [](const CallPoint& point) -> std::optional<Fault> {
                                                 if (point.part_number == 1)
                                                   return MakeFault(ErrorKind::kAccessDenied);
                                                 return std::nullopt;
                                               });
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->ReserveHead(kHead).ok());
  ASSERT_TRUE(writer->Write(MakeContent(kHead)).ok());
  const Bytes content = MakeContent(5 * kMiB);
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(HeadTest, AbortAfterTheHeadWasReplacedLeavesNothing) {
  const Bytes content = MakeContent(5 * kMiB);
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->ReserveHead(kHead).ok());
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  ASSERT_TRUE(writer->ReplaceHead(ByteView(content).first(kHead)).ok());
  ASSERT_TRUE(writer->Abort().ok());
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(HeadTest, ReturnsTheCrcOfTheBytes) {
  for (const std::size_t head : {std::size_t{0}, kHead}) {
    for (const UploadOptions& options : {UploadOptions{}, Parts()}) {
      const Bytes content = MakeContent(6 * kMiB + 17);
      const auto writer = Open(options);
      ASSERT_TRUE(writer->ReserveHead(head).ok());
      std::size_t at = 0;
      for (const std::size_t size : {100 * kKiB, std::size_t{0}, 3 * kKiB, 2 * kMiB, 3 * kMiB}) {
        const ByteView piece = ByteView(content).subspan(at, size);
        const Result<std::uint64_t> crc = writer->WriteNoCopyWithCrc(piece);
        ASSERT_TRUE(crc.ok());
        EXPECT_EQ(*crc, Crc64Nvme(piece));
        at += size;
      }
      ASSERT_TRUE(writer->WriteNoCopyWithCrc(ByteView(content).subspan(at)).ok());
      ASSERT_TRUE(writer->Finish().ok());
      EXPECT_TRUE(Stored(*inner_) == content);
      EXPECT_EQ(writer->WriteNoCopyWithCrc(content).error().kind, ErrorKind::kCancelled);
    }
  }
}

}  // namespace
}  // namespace penstock::transfer
