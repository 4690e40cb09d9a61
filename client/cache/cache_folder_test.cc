#include "client/cache/cache_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "client/cache/cache_test_support.h"

namespace penstock::cache {
namespace {

class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() : folder_(CacheFolder::Open(directory_.path(), kMinCacheBytes).value()) {}

  static BlockHead HeadOf(const std::string& key, const Bytes& data) {
    BlockHead head;
    head.version = {"e", "b", key, "t"};
    head.metadata.size = data.size();
    return head;
  }
  BlockId Store(const std::string& key, const Bytes& data) {
    const BlockHead head = HeadOf(key, data);
    const BlockId id{HashOf(head.version), 0};
    EXPECT_EQ(folder_->Store(id, head, data), CacheFolder::Stored::kYes);
    return id;
  }

  const TemporaryDirectory directory_;
  const std::unique_ptr<CacheFolder> folder_;
};

TEST_F(CacheFolderTest, AStoredBlockCanBeRead) {
  const Bytes data = MakeContent(1234);
  const BlockId id = Store("k", data);
  EXPECT_TRUE(folder_->Has(id));
  const auto block = folder_->OpenForRead(id);
  ASSERT_TRUE(block.has_value());
  Bytes read(1234);
  ASSERT_TRUE(ReadAt(block->file.get(), read, 0).ok());
  EXPECT_EQ(read, data);
  EXPECT_EQ(folder_->OpenForRead({id.hash, 1}), std::nullopt);
}

TEST_F(CacheFolderTest, OnlyItsUserCanReadIt) {
  struct ::stat status {};
  ASSERT_EQ(::stat((directory_.path() + "/v2").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  Store("k", MakeContent(10));
  ASSERT_EQ(::stat(directory_.Blocks().front().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(CacheFolderTest, TheLastBlockOfAProcessIsCounted) {
  const Bytes data = MakeContent(kCacheBlockBytes);
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto folder = CacheFolder::Open(directory_.path(), kMinCacheBytes);
    const BlockHead head = HeadOf("k", data);
    if (folder.ok()) (*folder)->Store({HashOf(head.version), 0}, head, data);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_GE(folder_->stats().stored_bytes, kCacheBlockBytes);
}

TEST_F(CacheFolderTest, ABlockUnderTheNameOfAnotherIsRemoved) {
  const BlockId id = Store("k", MakeContent(10));
  const BlockId other{HashOf({"e", "b", "other", "t"}), 0};
  const std::string path = directory_.path() + "/v2/";
  std::filesystem::create_directories(path + other.hash.substr(0, 2));
  std::filesystem::rename(path + id.Path(), path + other.Path());
  EXPECT_EQ(folder_->OpenForRead(other), std::nullopt);
  EXPECT_FALSE(folder_->Has(other));
  EXPECT_EQ(folder_->stats().damaged, 1u);
}

// Symptom: a read waited for ever for a writer of the FIFO.
TEST_F(CacheFolderTest, AnotherKindOfFileInThePlaceOfABlockIsRemoved) {
  const BlockId id = Store("k", MakeContent(10));
  const std::string path = directory_.path() + "/v2/" + id.Path();
  const std::string link = directory_.path() + "/elsewhere";
  std::filesystem::rename(path, link);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(folder_->Peek(id), std::nullopt);
  EXPECT_EQ(folder_->OpenBlockFile(id).error().kind, ErrorKind::kDataLoss);
  EXPECT_FALSE(folder_->Has(id));
  std::filesystem::create_symlink(link, path);
  EXPECT_EQ(folder_->OpenBlockFile(id).error().kind, ErrorKind::kDataLoss);
  EXPECT_FALSE(folder_->Has(id));
  EXPECT_TRUE(std::filesystem::exists(link));
  EXPECT_EQ(folder_->stats().damaged, 2u);
}

TEST_F(CacheFolderTest, ADirectoryInThePlaceOfABlockIsAnErrorEachTime) {
  const BlockId id = Store("k", MakeContent(10));
  const std::string path = directory_.path() + "/v2/" + id.Path();
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const auto opened = folder_->OpenBlockFile(id);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("cannot remove '" + path + "'"), std::string::npos);
  EXPECT_EQ(folder_->stats().damaged, 0u);
  EXPECT_EQ(folder_->stats().errors, 1u);
}

TEST_F(CacheFolderTest, ABlockWhoseFooterIsTooLongIsNotStored) {
  const Bytes data = MakeContent(10);
  BlockHead head = HeadOf("k", data);
  head.metadata.details.Edit().cache_control = std::string(kMaxFooterBytes, 'c');
  const BlockId id{HashOf(head.version), 0};
  EXPECT_EQ(folder_->Store(id, head, data), CacheFolder::Stored::kNoRoom);
  head.metadata.details.Edit().cache_control.resize(kMaxFooterBytes - 1000);
  EXPECT_EQ(folder_->Store(id, head, data), CacheFolder::Stored::kYes);
  EXPECT_TRUE(folder_->OpenForRead(id).has_value());
}

// Symptom: the end of an inspection released the locks of its process.
TEST_F(CacheFolderTest, LocksOutlastOtherUsesOfTheCacheByTheSameProcess) {
  const BlockId id{HashOf({"e", "b", "k", "t"}), 3};
  ASSERT_TRUE(folder_->TryLockBlock(id));
  ASSERT_TRUE(ReadCacheStats(directory_.path()).ok());
  ASSERT_TRUE(CacheFolder::Open(directory_.path(), kMinCacheBytes).ok());
  const auto seen_by_another_process = [&] {
    const ::pid_t child = ::fork();
    if (child == 0) {
      const auto own = CacheFolder::Open(directory_.path(), kMinCacheBytes);
      ::_exit(own.ok() && (*own)->IsBlockLocked(id) ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 1;
  };
  EXPECT_TRUE(seen_by_another_process());
  folder_->UnlockBlock(id);
  EXPECT_FALSE(seen_by_another_process());
}

TEST_F(CacheFolderTest, AnotherProcessSeesLocksUntilTheOwnerEnds) {
  const BlockId id{HashOf({"e", "b", "k", "t"}), 3};
  const BlockId next{id.hash, 4};
  int locked[2], end[2];
  ASSERT_EQ(::pipe(locked), 0);
  ASSERT_EQ(::pipe(end), 0);
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto own = CacheFolder::Open(directory_.path(), kMinCacheBytes);
    const char ok = own.ok() && (*own)->TryLockBlock(id) && (*own)->TryLockBlock(next) ? 'y' : 'n';
    if (own.ok()) (*own)->UnlockBlock(next);  // and keeps the other one
    char byte = 0;
    const bool told = ::write(locked[1], &ok, 1) == 1 && ::read(end[0], &byte, 1) == 1;
    ::_exit(told ? 0 : 1);  // as if killed: without a release
  }
  char result = 0;
  ASSERT_EQ(::read(locked[0], &result, 1), 1);
  ASSERT_EQ(result, 'y');
  EXPECT_TRUE(folder_->IsBlockLocked(id));
  EXPECT_FALSE(folder_->TryLockBlock(id));
  EXPECT_FALSE(folder_->IsBlockLocked(next));
  EXPECT_FALSE(folder_->IsBlockLocked({id.hash, 2}));
  ASSERT_EQ(::write(end[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(folder_->IsBlockLocked(id));
  EXPECT_TRUE(folder_->TryLockBlock(id));
  for (const int fd : {locked[0], locked[1], end[0], end[1]}) ::close(fd);
}

TEST_F(CacheFolderTest, ALostStateIsCountedAnew) {
  Store("k", MakeContent(100'000));
  const std::uint64_t stored = folder_->stats().stored_bytes;
  EXPECT_GE(stored, 100'000u);
  std::filesystem::resize_file(directory_.path() + "/v2/state", 3);
  const auto again = CacheFolder::Open(directory_.path(), kMinCacheBytes);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->stats().stored_bytes, stored);
}

TEST_F(CacheFolderTest, CountersOfTwoProcessesAddUp) {
  const auto other = CacheFolder::Open(directory_.path(), kMinCacheBytes).value();
  for (int i = 0; i < 10; ++i) {
    folder_->Add({.hits = 1, .hit_bytes = 5});
    other->Add({.hits = 1, .hit_bytes = 7});
  }
  other->Flush();
  const CacheStats stats = folder_->stats();
  EXPECT_EQ(stats.hits, 20u);
  EXPECT_EQ(stats.hit_bytes, 120u);
  EXPECT_EQ(stats.requested_bytes, 120u);
}

TEST_F(CacheFolderTest, EvictsTheLeastRecentlyUsedForAPrune) {
  const BlockId first = Store("1", MakeContent(10'000));
  const BlockId second = Store("2", MakeContent(10'000));
  // A file system's clock has ticks of some milliseconds, so both blocks may have one time.
  const std::optional<OpenBlock> unused = folder_->OpenForRead(second);
  const ::timespec times[2] = {{::time(nullptr) - 60, 0}, {0, UTIME_OMIT}};
  ASSERT_EQ(::futimens(unused->file.get(), times), 0);
  folder_->MarkUsed(*folder_->OpenForRead(first));
  const auto pruned = folder_->Shrink(12'288, true);
  ASSERT_TRUE(pruned.ok() && pruned->has_value());
  EXPECT_EQ((*pruned)->removed, 1u);
  EXPECT_TRUE(folder_->Has(first));
  EXPECT_FALSE(folder_->Has(second));
}

TEST_F(CacheFolderTest, RemovesTemporaryFilesThatAreOldOnly) {
  Store("k", MakeContent(10));
  const auto folder = directory_.Blocks().front().parent_path();
  std::ofstream(folder / ".tmp-1-1-1") << "new";
  std::ofstream(folder / ".tmp-2-2-2") << "old";
  std::filesystem::last_write_time(
      folder / ".tmp-2-2-2",
      std::filesystem::file_time_type::clock::now() - std::chrono::minutes(11));
  ASSERT_TRUE(folder_->Shrink(UINT64_MAX, true).ok());
  EXPECT_TRUE(std::filesystem::exists(folder / ".tmp-1-1-1"));
  EXPECT_FALSE(std::filesystem::exists(folder / ".tmp-2-2-2"));
}

TEST(OpenCacheFolderTest, RefusesDirectoriesOfOthers) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkdir((directory.path() + "/v2").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((directory.path() + "/v2").c_str(), 0770), 0);
  const auto opened = CacheFolder::Open(directory.path(), kMinCacheBytes);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(opened.error().message.find("chmod go-w"), std::string::npos);
}

TEST(OpenCacheFolderTest, WithoutALimitItUsesTheFreeSpace) {
  const TemporaryDirectory directory;
  const auto opened = CacheFolder::Open(directory.path(), std::nullopt);
  ASSERT_TRUE(opened.ok());
  EXPECT_GE((*opened)->limit(), kMinCacheBytes);
  EXPECT_LT((*opened)->limit(), 1ull << 60);
}

}  // namespace
}  // namespace penstock::cache
