#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultHook;
using penstock::testing::FaultyObjectStore;

UploadOptions Options() {
  UploadOptions options;
  options.single_put_limit_bytes = 20;
  options.part_size_bytes = 10;
  options.min_part_size_bytes = 1;
  options.max_parallel_parts = 2;
  return options;
}

class ObjectWriterTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::unique_ptr<ObjectWriter> Open(FaultHook hook = nullptr, UploadOptions options = Options()) {
    store_ = std::make_shared<FaultyObjectStore>(inner_, std::move(hook));
    return ObjectWriter::Create(store_, kBucket, kKey, std::move(options));
  }

  static Result<void> WriteInPieces(ObjectWriter& writer, const Bytes& content, std::size_t piece) {
    for (std::size_t at = 0; at < content.size(); at += piece) {
      PENSTOCK_TRY(writer.Write(ByteView(content).subspan(at, std::min(piece, content.size() - at))));
    }
    return Ok();
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  std::shared_ptr<FaultyObjectStore> store_;
};

TEST_P(ObjectWriterTest, UpToTheLimitItIsOnePut) {
  for (const std::size_t size : {0, 1, 19, 20}) {
    const Bytes content = MakeContent(size);
    const auto writer = Open();
    ASSERT_TRUE(WriteInPieces(*writer, content, 7).ok());
    const auto done = writer->Finish();
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->bytes, size);
    EXPECT_EQ(Stored(*inner_), content);
    EXPECT_EQ(store_->count("PutObject"), 1u);
    EXPECT_EQ(store_->count("CreateMultipartUpload"), 0u);
  }
}

TEST_P(ObjectWriterTest, BeyondTheLimitItIsMultipart) {
  const Bytes content = MakeContent(21);
  const auto writer = Open();
  ASSERT_TRUE(WriteInPieces(*writer, content, 7).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Stored(*inner_), content);
  EXPECT_EQ(store_->count("PutObject"), 0u);
  EXPECT_EQ(store_->count("UploadPart"), 2u);
}

TEST_P(ObjectWriterTest, NoPartIsEmpty) {
  const Bytes content = MakeContent(40);  // 20 + 10 + 10
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 3u);
  EXPECT_EQ(Stored(*inner_), content);
}

TEST_P(ObjectWriterTest, LimitBelowThePartSizeStillPublishes) {
  UploadOptions options = Options();
  options.single_put_limit_bytes = 0;
  const Bytes content = MakeContent(5);
  const auto writer = Open(nullptr, options);
  ASSERT_TRUE(writer->Write(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 1u);
  EXPECT_EQ(Stored(*inner_), content);
}

TEST_P(ObjectWriterTest, NothingIsVisibleBeforeFinish) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(MakeContent(100)).ok());
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(writer->bytes_written(), 100u);
}

TEST_P(ObjectWriterTest, DestroyedWithoutFinishItLeavesNothing) {
  Open()->Write(MakeContent(100)).ok();
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(ObjectWriterTest, AbortLeavesNothingAndStays) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(MakeContent(100)).ok());
  EXPECT_TRUE(writer->Abort().ok());
  EXPECT_TRUE(writer->Abort().ok());
  EXPECT_EQ(writer->Write(MakeContent(1)).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
  EXPECT_FALSE(Stored(*inner_).has_value());
}

TEST_P(ObjectWriterTest, FinishTwiceGivesTheFirstResult) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(MakeContent(50)).ok());
  const auto first = writer->Finish();
  const auto second = writer->Finish();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->etag, second->etag);
  EXPECT_EQ(store_->count("CompleteMultipartUpload"), 1u);
  EXPECT_TRUE(writer->Abort().ok());
  EXPECT_TRUE(Stored(*inner_).has_value());
  EXPECT_FALSE(writer->Write(MakeContent(1)).ok());
}

TEST_P(ObjectWriterTest, FailedFinishStaysFailed) {
  const auto writer = Open([](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "CompleteMultipartUpload") return MakeFault(ErrorKind::kAccessDenied);
    return std::nullopt;
  });
  ASSERT_TRUE(writer->Write(MakeContent(50)).ok());
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(ObjectWriterTest, AFailedPartIsReportedByTheNextCallsAndAborts) {
  const auto writer = Open([](const CallPoint& point) -> std::optional<Fault> {
    if (point.part_number == 2) return MakeFault(ErrorKind::kAccessDenied);
    return std::nullopt;
  });
  const Result<void> written = WriteInPieces(*writer, MakeContent(400), 10);
  const Result<UploadResponse> finished = writer->Finish();
  EXPECT_FALSE(written.ok());
  EXPECT_EQ(finished.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
  EXPECT_FALSE(Stored(*inner_).has_value());
}

TEST_P(ObjectWriterTest, RefusesPartsS3WouldRefuse) {
  UploadOptions options;
  options.part_size_bytes = 1 << 20;
  const auto writer = Open(nullptr, options);
  EXPECT_EQ(writer->Write(MakeContent(1)).error().kind, ErrorKind::kInvalidArgument);
}

TEST_P(ObjectWriterTest, SizeHintSizesThePartsForTenThousand) {
  UploadOptions options = Options();
  options.single_put_limit_bytes = 10;
  options.size_hint_bytes = 10'000ull << 20;  // so parts of 1 MiB
  const auto writer = Open(nullptr, options);
  const Bytes content = MakeContent((2u << 20) + 1);
  ASSERT_TRUE(writer->Write(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 3u);
  EXPECT_EQ(Stored(*inner_), content);
}

INSTANTIATE_TEST_SUITE_P(Completions, ObjectWriterTest, ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
