#include "emulator/store/blobs/blob_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class BlobFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(PrepareBlobDirectory(directory_.path(), Durability::kStrict).ok());
  }
  std::unique_ptr<BlobWriter> Writer(std::uint64_t hint = 0) {
    return NewFileBlobWriter(registry_, options_, hint);
  }
  int Files() const {
    registry_->FlushRemovals();
    return CountFilesBelow(directory_.path());
  }

  TemporaryDirectory directory_;
  std::shared_ptr<BlobRegistry> registry_ = std::make_shared<BlobRegistry>(directory_.path(), 1);
  FileBlobOptions options_{.inline_limit_bytes = 1000, .durability = Durability::kStrict};
};

TEST_F(BlobFileTest, SmallBodiesStayInMemory) {
  const auto writer = Writer();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->Append(AsBytes(Body(100))).ok());
  const auto content = writer->Finish();
  ASSERT_TRUE(content.ok());
  EXPECT_TRUE(content->slices[0].blob->Memory().has_value());
  EXPECT_EQ(content->size(), 1000u);
  EXPECT_EQ(Files(), 0);
}

TEST_F(BlobFileTest, LargeBodiesBecomeFilesForAnyAppendSize) {
  const std::string body = Body(200'000);
  for (const std::size_t piece : {7'001, 70'000, 200'000}) {
    const auto writer = Writer();
    for (std::size_t at = 0; at < body.size(); at += piece) {
      ASSERT_TRUE(writer->Append(AsBytes(std::string_view(body).substr(at, piece))).ok());
    }
    const auto content = writer->Finish();
    ASSERT_TRUE(content.ok());
    EXPECT_GE(content->slices[0].blob->FileDescriptor(), 0);
    EXPECT_EQ(Text(*content), body) << piece;
  }
}

TEST_F(BlobFileTest, ABodyShorterThanAnnouncedIsTruncatedToItsSize) {
  const std::string body = Body(200'000);
  const auto writer = Writer(std::uint64_t{64} << 20);
  ASSERT_TRUE(writer->Append(AsBytes(body)).ok());
  const auto content = writer->Finish();
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(Text(*content), body);
  struct stat status {};
  ASSERT_EQ(::fstat(content->slices[0].blob->FileDescriptor(), &status), 0);
  EXPECT_EQ(status.st_size, 200'000);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

// Otherwise a client that announces a large body and sends little could fill the disk.
TEST_F(BlobFileTest, LimitsThePreallocatedSpace) {
  const auto writer = Writer(std::uint64_t{1} << 40);
  ASSERT_TRUE(writer->Append(AsBytes(Body(100'000))).ok());
  std::uintmax_t room = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path() + "/tmp")) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    room += static_cast<std::uintmax_t>(status.st_blocks) * 512;
  }
  EXPECT_LE(room, std::uintmax_t{17} << 20);
}

TEST_F(BlobFileTest, AFailureToCreateADirectoryIsTheReportedError) {
  std::filesystem::remove_all(directory_.path() + "/blobs");
  const auto writer = Writer();
  ASSERT_TRUE(writer->Append(AsBytes(Body(100'000))).ok());
  const auto content = writer->Finish();
  ASSERT_FALSE(content.ok());
  EXPECT_NE(content.error().message.find("cannot create the directory"), std::string::npos)
      << content.error().message;
}

TEST_F(BlobFileTest, AnAbandonedWriterLeavesNoFiles) {
  auto writer = Writer(1 << 20);
  ASSERT_TRUE(writer->Append(AsBytes(Body(100'000))).ok());
  EXPECT_EQ(Files(), 1);
  writer.reset();
  EXPECT_EQ(Files(), 0);
}

TEST_F(BlobFileTest, UnreferencedContentLeavesNoFiles) {
  {
    const auto writer = Writer();
    ASSERT_TRUE(writer->Append(AsBytes(Body(5'000))).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  EXPECT_EQ(Files(), 0);
}

TEST_F(BlobFileTest, MapsFilesWhenDescriptorsRunOut) {
  std::vector<DescriptorShare> all;
  for (std::int64_t i = 0; i < DescriptorShare::Limit(); ++i)
    all.push_back(DescriptorShare::Take());
  const std::string body = Body(50'000);
  const auto writer = Writer();
  ASSERT_TRUE(writer->Append(AsBytes(body)).ok());
  const auto content = writer->Finish();
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->slices[0].blob->FileDescriptor(), -1);
  EXPECT_EQ(Text(*content), body);
}

TEST_F(BlobFileTest, ATruncatedFileIsDataLossAndAMissingFileIsNull) {
  std::filesystem::create_directories(directory_.path() + "/blobs/09");
  std::ofstream(registry_->PathOf(9)) << "short";
  const auto cut = FileBlob::Open(registry_, 9, 100);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(cut.error().message.find(registry_->PathOf(9)), std::string::npos);
  const auto missing = FileBlob::Open(registry_, 10, 100);
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(*missing, nullptr);
}

TEST_F(BlobFileTest, SweepsOnlyOrphansOfEarlierRuns) {
  std::filesystem::create_directories(directory_.path() + "/blobs/09");
  std::ofstream(registry_->PathOf(9)) << "kept";
  std::ofstream(registry_->PathOf(0x109)) << "orphan";
  std::ofstream(directory_.path() + "/blobs/09/notes.txt") << "foreign";
  std::ofstream(registry_->PathOf(0x209)) << "of this run";
  std::ofstream(directory_.path() + "/tmp/0000000000000008") << "half";
  std::ofstream(directory_.path() + "/tmp/0000000000000208") << "being written";
  const SweepOptions sweep{.first_id = 0x200, .is_known = [](std::int64_t id) { return id == 9; }};
  ASSERT_TRUE(SweepBlobDirectory(directory_.path(), sweep).ok());
  EXPECT_TRUE(std::filesystem::exists(registry_->PathOf(0x209)));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/tmp/0000000000000008"));
  EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/tmp/0000000000000208"));
  EXPECT_TRUE(std::filesystem::exists(registry_->PathOf(9)));
  EXPECT_FALSE(std::filesystem::exists(registry_->PathOf(0x109)));
  EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/blobs/09/notes.txt"));
}

TEST_F(BlobFileTest, AStoppedSweepRemovesNothing) {
  std::filesystem::create_directories(directory_.path() + "/blobs/09");
  std::ofstream(registry_->PathOf(9)) << "orphan";
  const std::atomic<bool> stop{true};
  const SweepOptions sweep{
      .first_id = 0x200, .is_known = [](std::int64_t) { return false; }, .stop = &stop};
  ASSERT_TRUE(SweepBlobDirectory(directory_.path(), sweep).ok());
  EXPECT_TRUE(std::filesystem::exists(registry_->PathOf(9)));
}

}  // namespace
}  // namespace penstock::emulator::store
