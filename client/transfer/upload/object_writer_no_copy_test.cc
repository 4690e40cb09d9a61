#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/memory.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

constexpr std::size_t kKiB = 1 << 10;
constexpr std::size_t kMiB = 1 << 20;

class NoCopyTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectWriter> Open(UploadOptions options = {}) {
    return ObjectWriter::Create(store_, kBucket, kKey, std::move(options));
  }
  static UploadOptions Parts() {
    UploadOptions options;
    options.single_put_limit_bytes = 0;
    options.part_size_bytes = 8 * kMiB;
    return options;
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore();
  std::shared_ptr<FaultyObjectStore> store_ = std::make_shared<FaultyObjectStore>(inner_, nullptr);
};

TEST_F(NoCopyTest, KeepsTheOrderOfCopiedAndUncopiedBytes) {
  for (const UploadOptions& options : {UploadOptions{}, Parts()}) {
    const Bytes content = MakeContent(30 * kMiB + 17);
    const auto writer = Open(options);
    std::size_t at = 0;
    // Headers between tensors, as in a checkpoint. Sizes: copied, borrowed, and larger than a part.
    for (const std::size_t size :
         {100 * kKiB, std::size_t{0}, 3 * kKiB, 64 * kKiB, 9 * kMiB, 1 * kMiB, 17 * kMiB}) {
      const std::size_t header = 1000;
      ASSERT_TRUE(writer->Write(ByteView(content).subspan(at, header)).ok());
      ASSERT_TRUE(writer->WriteNoCopy(ByteView(content).subspan(at + header, size)).ok());
      at += header + size;
      EXPECT_EQ(writer->bytes_written(), at);
    }
    ASSERT_TRUE(writer->Write(ByteView(content).subspan(at)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_TRUE(Stored(*inner_) == content);
  }
}

TEST_F(NoCopyTest, DoesNotCopyBytes) {
  Bytes content = MakeContent(10 * kMiB);
  const auto writer = Open();
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  content[5 * kMiB] ^= std::byte{1};  // not allowed, but shows that the bytes were not copied
  const Bytes changed = content;
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner_) == changed);
  EXPECT_EQ(store_->count("PutObject"), 1u);
}

TEST_F(NoCopyTest, SmallWritesBetweenUncopiedBytesUseNoPooledMemory) {
  const std::uint64_t before = MemoryBudget::PerProcess().usage().held;
  const Bytes content = MakeContent(100 * kKiB);
  const auto writer = Open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(writer->Write(ByteView(content).first(1000)).ok());
    ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  }
  EXPECT_EQ(MemoryBudget::PerProcess().usage().held, before);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Stored(*inner_)->size(), 100 * (1000 + 100 * kKiB));
}

TEST_F(NoCopyTest, DrainReleasesTheCallersMemory) {
  // Smaller than the minimum part size, several parts and a rest, and a stream without parts.
  for (const auto& [options, size] :
       {std::pair{Parts(), 3 * kMiB}, std::pair{Parts(), 30 * kMiB},
        std::pair{UploadOptions{}, 30 * kMiB}, std::pair{UploadOptions{}, 200 * kKiB}}) {
    Bytes content = MakeContent(size);
    Bytes expected = content;
    const auto writer = Open(options);
    ASSERT_TRUE(writer->WriteNoCopy(content).ok());
    ASSERT_TRUE(writer->Drain().ok());
    std::fill(content.begin(), content.end(), std::byte{0});
    ASSERT_TRUE(writer->WriteNoCopy(content).ok());
    ASSERT_TRUE(writer->Drain().ok());
    ASSERT_TRUE(writer->Drain().ok());
    expected.insert(expected.end(), content.begin(), content.end());
    std::fill(content.begin(), content.end(), std::byte{1});
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_TRUE(Stored(*inner_) == expected);
  }
}

TEST_F(NoCopyTest, SizeHintAboveTheLimitSendsTheFirstPartImmediately) {
  UploadOptions options;
  options.size_hint_bytes = 100 * kMiB;
  const Bytes content = MakeContent(9 * kMiB);
  const auto writer = Open(options);
  ASSERT_TRUE(writer->WriteNoCopy(content).ok());
  EXPECT_EQ(store_->count("UploadPart"), 1u);
  ASSERT_TRUE(writer->Drain().ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Stored(*inner_) == content);
}

TEST_F(NoCopyTest, FailureWaitsUntilNoPartUsesTheMemory) {
  store_ = std::make_shared<FaultyObjectStore>(inner_,
                                               [](const CallPoint& point) -> std::optional<Fault> {
                                                 if (point.part_number == 2)
                                                   return MakeFault(ErrorKind::kAccessDenied);
                                                 return std::nullopt;
                                               });
  const auto writer = Open(Parts());
  auto content = std::make_unique<Bytes>(MakeContent(40 * kMiB));
  Result<void> last = writer->WriteNoCopy(*content);
  if (last.ok()) last = writer->Drain();
  content.reset();  // AddressSanitizer detects a part that still reads it
  EXPECT_EQ(last.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->WriteNoCopy({}).error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->Drain().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(writer->Finish().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(NoCopyTest, AbortWaitsUntilNoPartUsesTheMemory) {
  auto content = std::make_unique<Bytes>(MakeContent(40 * kMiB));
  const auto writer = Open(Parts());
  ASSERT_TRUE(writer->WriteNoCopy(*content).ok());
  ASSERT_TRUE(writer->Abort().ok());
  content.reset();
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(NoCopyTest, DestructionWaitsUntilNoPartUsesTheMemory) {
  auto content = std::make_unique<Bytes>(MakeContent(40 * kMiB));
  auto writer = Open(Parts());
  ASSERT_TRUE(writer->WriteNoCopy(*content).ok());
  writer.reset();
  content.reset();
  EXPECT_FALSE(Stored(*inner_).has_value());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_F(NoCopyTest, WriteNoCopyFailsAfterFinish) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(writer->WriteNoCopy(MakeContent(1)).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(writer->Drain().ok());
}

}  // namespace
}  // namespace penstock::transfer
