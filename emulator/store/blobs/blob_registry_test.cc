#include "emulator/store/blobs/blob_registry.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class BlobRegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(PrepareBlobDirectory(directory_.path(), Durability::kRelaxed).ok());
  }
  StoredBlobPtr NewFile() {
    const auto writer = NewFileBlobWriter(files_, {}, 0);
    EXPECT_TRUE(writer->Append(AsBytes("bytes")).ok());
    auto content = writer->Finish();
    EXPECT_TRUE(content.ok());
    return std::dynamic_pointer_cast<const StoredBlob>(content->slices[0].blob);
  }
  bool Exists(std::int64_t id) const {
    files_->FlushRemovals();
    return std::filesystem::exists(files_->PathOf(id));
  }

  TemporaryDirectory directory_;
  std::shared_ptr<BlobRegistry> files_ = std::make_shared<BlobRegistry>(directory_.path(), 1);
  std::shared_ptr<BlobRegistry> memory_ = std::make_shared<BlobRegistry>("", 1);
};

TEST_F(BlobRegistryTest, AReferencedFileOutlivesItsPointers) {
  StoredBlobPtr blob = NewFile();
  const std::int64_t id = blob->id();
  files_->Referenced(blob);
  EXPECT_EQ(files_->Find(id), blob);
  blob.reset();
  EXPECT_EQ(files_->Find(id), nullptr);
  EXPECT_TRUE(Exists(id));
  files_->Released(id, true);
  EXPECT_FALSE(Exists(id));
}

TEST_F(BlobRegistryTest, AReleasedFileIsDeletedWithItsLastPointer) {
  StoredBlobPtr blob = NewFile();
  const std::int64_t id = blob->id();
  files_->Referenced(blob);
  files_->Released(id, true);
  EXPECT_TRUE(Exists(id));
  blob.reset();
  EXPECT_FALSE(Exists(id));
}

TEST_F(BlobRegistryTest, AReleasedFileCanBeReferencedAgain) {
  StoredBlobPtr blob = NewFile();
  const std::int64_t id = blob->id();
  files_->Referenced(blob);
  files_->Released(id, true);
  files_->Referenced(blob);
  blob.reset();
  EXPECT_TRUE(Exists(id));
}

TEST_F(BlobRegistryTest, AFileUnlinkedBetweenLookupAndOpenIsNotUsed) {
  const std::int64_t id = 77;
  std::filesystem::create_directories(directory_.path() + "/blobs/4d");
  { const Descriptor file(::creat(files_->PathOf(id).c_str(), 0644)); }
  const auto opened = FileBlob::Open(files_, id, 0);
  ASSERT_TRUE(opened.ok());
  files_->Released(id, true);
  EXPECT_EQ(files_->AddLoaded(*opened), nullptr);
}

TEST_F(BlobRegistryTest, TwoLoadersShareOneBlob) {
  const auto first = std::make_shared<HeapBlob>(files_, 5, HeapBuffer(0));
  const auto second = std::make_shared<HeapBlob>(files_, 5, HeapBuffer(0));
  EXPECT_EQ(files_->AddLoaded(first), first);
  EXPECT_EQ(files_->AddLoaded(second), first);
}

TEST_F(BlobRegistryTest, MemoryModeKeepsReferencedBlobsAlive) {
  StoredBlobPtr blob = std::make_shared<HeapBlob>(memory_, 5, HeapBuffer(0));
  memory_->AddPending(blob);
  memory_->Referenced(blob);
  blob.reset();
  EXPECT_NE(memory_->Find(5), nullptr);
  memory_->Released(5, false);
  EXPECT_EQ(memory_->Find(5), nullptr);
}

TEST_F(BlobRegistryTest, DropReferencesFreesAllBlobsInMemory) {
  // Regression: a reset or a stopped emulator kept all its bytes, because the registry and the
  // blobs referred to each other.
  StoredBlobPtr blob = std::make_shared<HeapBlob>(memory_, 5, HeapBuffer(0));
  memory_->AddPending(blob);
  memory_->Referenced(blob);
  const std::weak_ptr<const StoredBlob> watched = blob;
  memory_->DropReferences();
  EXPECT_EQ(memory_->Find(5), blob);  // a reader still holds it
  blob.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(memory_.use_count(), 1);
}

}  // namespace
}  // namespace penstock::emulator::store
