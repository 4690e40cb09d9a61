#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/memory.h"

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
      PENSTOCK_TRY(
          writer.Write(ByteView(content).subspan(at, std::min(piece, content.size() - at))));
    }
    return Ok();
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  std::shared_ptr<FaultyObjectStore> store_;
};

TEST_P(ObjectWriterTest, UsesOnePutUpToTheLimit) {
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

TEST_P(ObjectWriterTest, UsesMultipartAboveTheLimit) {
  const Bytes content = MakeContent(21);
  const auto writer = Open();
  ASSERT_TRUE(WriteInPieces(*writer, content, 7).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Stored(*inner_), content);
  EXPECT_EQ(store_->count("PutObject"), 0u);
  EXPECT_EQ(store_->count("UploadPart"), 3u);
}

TEST_P(ObjectWriterTest, NoPartIsEmpty) {
  const Bytes content = MakeContent(40);
  const auto writer = Open();
  ASSERT_TRUE(writer->Write(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 4u);
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

TEST_P(ObjectWriterTest, DestructionWithoutFinishLeavesNothing) {
  Open()->Write(MakeContent(100)).ok();
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(ObjectWriterTest, AbortLeavesNothingAndIsFinal) {
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

TEST_P(ObjectWriterTest, FailedFinishIsFinal) {
  const auto writer = Open([](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "CompleteMultipartUpload") return MakeFault(ErrorKind::kAccessDenied);
    return std::nullopt;
  });
  ASSERT_TRUE(writer->Write(MakeContent(50)).ok());
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(ObjectWriterTest, FailedPartAbortsAndIsReportedByTheNextCalls) {
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

TEST_P(ObjectWriterTest, RejectsPartSizesThatS3Rejects) {
  UploadOptions options;
  options.part_size_bytes = 1 << 20;
  const auto writer = Open(nullptr, options);
  EXPECT_EQ(writer->Write(MakeContent(1)).error().kind, ErrorKind::kInvalidArgument);
}

TEST_P(ObjectWriterTest, SizeHintSizesTheParts) {
  UploadOptions options = Options();
  options.single_put_limit_bytes = 10;
  options.part_size_bytes.reset();
  options.size_hint_bytes = 320 << 20;  // so the parts have 10 MiB
  const auto writer = Open(nullptr, options);
  const Bytes content = MakeContent((20u << 20) + 1);
  ASSERT_TRUE(WriteInPieces(*writer, content, 100'000).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(store_->count("UploadPart"), 3u);
  EXPECT_EQ(Stored(*inner_), content);
}

// Records the memory and the sizes of part bodies, and holds them on request.
class PartRecorder final : public FaultyObjectStore {
 public:
  explicit PartRecorder(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    sizes.push_back(request.body->size());
    bool borrowed = false;
    for (ByteView next = request.body->Next(1 << 20); !next.empty();
         next = request.body->Next(1 << 20)) {
      borrowed =
          borrowed || (next.data() >= memory.data() && next.data() < memory.data() + memory.size());
    }
    borrowed_parts += borrowed ? 1 : 0;
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  ByteView memory;  // of a caller
  int borrowed_parts = 0;
  std::vector<std::uint64_t> sizes;
};

constexpr std::size_t kMiB = 1 << 20;

TEST(ObjectWriterMemory, SendsMostOfALargeWriteWithoutCopyingIt) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<PartRecorder>(inner);
  UploadOptions options;
  options.part_size_bytes = 8 * kMiB;
  options.max_parallel_parts = 2;
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, options);
  Bytes content = MakeContent(80 * kMiB);
  const Bytes before = content;
  // Like the headers between tensors in a checkpoint.
  ASSERT_TRUE(writer->Write(ByteView(content).first(100)).ok());
  store->memory = ByteView(content).subspan(100);
  ASSERT_TRUE(writer->Write(store->memory).ok());
  std::fill(content.begin(), content.end(), std::byte{0});
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner) == before);
  EXPECT_EQ(store->borrowed_parts, 8);  // all except the bytes in two parts
  EXPECT_EQ(store->count("PutObject"), 0u);
}

// Holds parts until the test releases them.
class HeldParts final : public FaultyObjectStore {
 public:
  explicit HeldParts(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    held.push_back([this, request, done] { FaultyObjectStore::Start(request, done); });
  }
  std::vector<std::function<void()>> held;
};

TEST(ObjectWriterMemory, WriteWaitsForThePartsThatBorrowItsMemory) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<HeldParts>(inner);
  UploadOptions options;
  options.single_put_limit_bytes = 0;
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, options);
  const Bytes content = MakeContent(24 * kMiB);
  bool waited = false;
  const auto interrupt = [&] {  // called only while the write waits
    waited = true;
    for (const auto& part : std::exchange(store->held, {})) part();
    return false;
  };
  ASSERT_TRUE(writer->Write(content, interrupt).ok());
  EXPECT_TRUE(waited);
  // Otherwise the writer's destructor would block forever if this test failed.
  for (const auto& part : store->held) part();
}

TEST(ObjectWriterMemory, FailedLargeWriteWaitsUntilNoPartUsesItsMemory) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<FaultyObjectStore>(
      inner, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.part_number == 2) return MakeFault(ErrorKind::kAccessDenied);
        return std::nullopt;
      });
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, {});
  auto content = std::make_unique<Bytes>(MakeContent(80 * kMiB));
  const Result<void> written = writer->Write(*content);
  content.reset();  // AddressSanitizer detects a part that still reads it
  EXPECT_EQ(written.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner), 0u);
}

TEST(ObjectWriterMemory, InterruptedLargeWriteWaitsUntilNoPartUsesItsMemory) {
  const auto inner = MakeStore();
  const auto writer = ObjectWriter::Create(inner, kBucket, kKey, {});
  auto content = std::make_unique<Bytes>(MakeContent(200 * kMiB));
  const Result<void> written = writer->Write(*content, [] { return true; });
  content.reset();
  if (!written.ok()) {
    EXPECT_EQ(written.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(OpenUploads(*inner), 0u);
  }
  // The interrupt may come after all bytes were accepted.
  EXPECT_TRUE(writer->bytes_written() == 200 * kMiB || !written.ok());
}

TEST(ObjectWriterMemory, KeepsSmallObjectsOnTheHeap) {
  const auto store = MakeStore();
  const std::uint64_t before = MemoryBudget::PerProcess().usage().held;
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, {});
  const Bytes content = MakeContent(50'000);
  ASSERT_TRUE(writer->Write(content).ok());
  EXPECT_EQ(MemoryBudget::PerProcess().usage().held, before);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Stored(*store), content);
}

class ObjectWriterBudget : public ::testing::Test {
 protected:
  ObjectWriterBudget() { budget_.SetLimit(16 * kMiB); }
  ~ObjectWriterBudget() override { budget_.SetLimit(before_); }

  MemoryBudget& budget_ = MemoryBudget::PerProcess();
  const std::uint64_t before_ = budget_.limit();
};

TEST_F(ObjectWriterBudget, ExhaustedBudgetSendsPartsEarly) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<PartRecorder>(inner);
  const std::uint64_t beyond = budget_.usage().beyond_limit;
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, {});
  const Bytes content = MakeContent(40 * kMiB);  // a single PUT if there were memory
  for (std::size_t at = 0; at < content.size(); at += kMiB) {
    ASSERT_TRUE(writer->Write(ByteView(content).subspan(at, kMiB)).ok());
    ASSERT_LE(budget_.usage().held, 16 * kMiB);
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner) == content);
  EXPECT_EQ(store->count("PutObject"), 0u);
  EXPECT_GE(store->sizes.size(), 4u);
  for (std::size_t i = 0; i + 1 < store->sizes.size(); ++i) EXPECT_GE(store->sizes[i], 5 * kMiB);
  EXPECT_EQ(budget_.usage().beyond_limit, beyond);
}

TEST_F(ObjectWriterBudget, ExhaustedBudgetSendsFromTheCallersMemory) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<PartRecorder>(inner);
  const auto writer = ObjectWriter::Create(store, kBucket, kKey, {});
  const Bytes content = MakeContent(65 * kMiB);
  store->memory = content;
  ASSERT_TRUE(writer->Write(content).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner) == content);
  EXPECT_LE(budget_.usage().held, 0u);
}

TEST_F(ObjectWriterBudget, ManyWritersOnOneThreadFinish) {
  // No writer releases memory before the thread uses it again.
  const auto inner = MakeStore();
  const Bytes content = MakeContent(9 * kMiB);
  std::vector<std::unique_ptr<ObjectWriter>> writers;
  for (int i = 0; i < 3; ++i) {
    writers.push_back(ObjectWriter::Create(inner, kBucket, ObjectKey(std::to_string(i)), {}));
  }
  for (std::size_t at = 0; at < content.size(); at += kMiB) {
    for (const auto& writer : writers)
      ASSERT_TRUE(writer->Write(ByteView(content).subspan(at, kMiB)).ok());
  }
  for (const auto& writer : writers) ASSERT_TRUE(writer->Finish().ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Stored(*inner, ObjectKey(std::to_string(i))) == content);
  EXPECT_EQ(budget_.usage().held, 0u);
}

TEST_F(ObjectWriterBudget, ManyWritersOnManyThreadsStayWithinTheBudgetAndFinish) {
  const auto inner = MakeStore();
  const Bytes content = MakeContent(20 * kMiB);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto writer = ObjectWriter::Create(inner, kBucket, ObjectKey(std::to_string(i)), {});
      for (std::size_t at = 0; at < content.size(); at += kMiB / 2) {
        ASSERT_TRUE(writer->Write(ByteView(content).subspan(at, kMiB / 2)).ok());
      }
      ASSERT_TRUE(writer->Finish().ok());
      EXPECT_TRUE(Stored(*inner, ObjectKey(std::to_string(i))) == content);
    });
  }
  threads.clear();
  EXPECT_EQ(budget_.usage().held, 0u);
  EXPECT_EQ(budget_.usage().waiting, 0u);
}

INSTANTIATE_TEST_SUITE_P(Completions, ObjectWriterTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
