#include "emulator/store/commits/disk_guard.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: test helpers

std::uint64_t Allocated(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512
                                            : 0;
}

class DiskGuardTest : public ::testing::TestWithParam<Durability> {
 protected:
  const TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data";
  const std::string reserve_ = data_ + "/penstock.reserve";
};

TEST_P(DiskGuardTest, TheReserveGrowsWithTheLogAndShrinksOnClose) {
  {
    const auto store = OpenStore({.directory = data_, .durability = GetParam()});
    EXPECT_GE(Allocated(reserve_), DiskGuard::kBaseBytes);
    MakeBucket(*store);
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000)).ok());
    EXPECT_GE(Allocated(reserve_), DiskGuard::kBaseBytes + 60 * 30'000);
  }
  EXPECT_GE(Allocated(reserve_), DiskGuard::kClosedBytes);
  EXPECT_LT(Allocated(reserve_), DiskGuard::kBaseBytes);
}

// Repeats the removal, because the store's background thread may create a file meanwhile.
void RemoveAll(const std::string& path) {
  std::error_code failed;
  do {
    fs::remove_all(path, failed);
  } while (failed == std::errc::directory_not_empty);
}

TEST_P(DiskGuardTest, WritesFailAfterTheDirectoryIsRemoved) {
  const auto store = OpenStore({.directory = data_, .durability = GetParam()});
  MakeBucket(*store);
  ASSERT_TRUE(PutText(*store, "before", "body").ok());
  const PutObject begun = MakePut(*store, "begun", "body");
  RemoveAll(data_);
  const auto put = store->Put(begun);
  ASSERT_FALSE(put.ok()) << "the write was acknowledged but is lost";
  EXPECT_EQ(put.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(put.error().code, "InternalError");
  EXPECT_NE(put.error().message.find("directory was removed"), std::string::npos);
  EXPECT_FALSE(store->NewBlob(0).ok());
  EXPECT_FALSE(Remove(*store, "before").ok());
  BucketRecord bucket;
  bucket.name = BucketName("another");
  EXPECT_FALSE(store->CreateBucket(bucket).ok());
}

TEST_P(DiskGuardTest, TheNextWriteFailsAfterAFileIsRemoved) {
  for (const char* name : {"/blobs", "/penstock.db-wal", "/penstock.db"}) {
    const TemporaryDirectory directory;
    const auto store = OpenStore({.directory = directory.path(), .durability = GetParam()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "before", "body").ok());
    RemoveAll(directory.path() + name);
    EXPECT_FALSE(PutText(*store, "key", "body").ok()) << name;
  }
}

// A relaxed store that sees no change of its directory's entries checks at one of 16 commits.
TEST_P(DiskGuardTest, WritesFailAfterAFileIsMovedOrReplaced) {
  for (const std::string name : {"", "/blobs", "/penstock.db-wal", "/penstock.db"}) {
    for (const bool replaced : {false, true}) {
      const TemporaryDirectory directory;
      const std::string data = directory.path() + "/data";
      OpenStore({.directory = data, .durability = GetParam()}).reset();
      const std::string orphan = data + "/tmp/0000000000000007";
      std::ofstream(orphan) << "half";
      const auto store = OpenStore({.directory = data, .durability = GetParam()});
      // The sweep opens the database, which must not be a copy that is being written.
      ASSERT_TRUE(WaitUntil([&] { return !fs::exists(orphan); }));
      MakeBucket(*store);
      const PutObject put = MakePut(*store, "key", "body");
      fs::rename(data + name, directory.path() + "/moved");
      std::error_code failed;
      const auto options = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
      do {  // the store may create a folder at the same time
        failed.clear();
        if (replaced) fs::copy(directory.path() + "/moved", data + name, options, failed);
      } while (failed == std::errc::file_exists);
      ASSERT_FALSE(failed) << failed.message();
      const unsigned unnoticed =
          GetParam() == Durability::kStrict ? 0 : DiskGuard::kCommitsBetweenChecks - 1;
      for (unsigned i = 0; i < unnoticed; ++i) static_cast<void>(store->Put(put));
      EXPECT_FALSE(store->Put(put).ok()) << name << replaced;
    }
  }
}

// The store and other programs may create and remove files in the directory.
TEST_P(DiskGuardTest, OtherChangesOfTheDirectoryAreIgnored) {
  const auto store = OpenStore({.directory = data_, .durability = GetParam()});
  MakeBucket(*store);
  for (int i = 0; i < 3; ++i) {
    fs::create_directory(data_ + "/other");
    ASSERT_TRUE(PutText(*store, "key", "body").ok());
    fs::remove(data_ + "/other");
    ASSERT_TRUE(PutText(*store, "key", "body").ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Both, DiskGuardTest,
                         ::testing::Values(Durability::kRelaxed, Durability::kStrict),
                         [](const auto& durability) {
                           return durability.param == Durability::kStrict ? "Strict" : "Relaxed";
                         });

}  // namespace
}  // namespace penstock::emulator::store
