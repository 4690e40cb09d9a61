#include "emulator/store/disk_guard.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: the helpers of this folder's tests

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

TEST_P(DiskGuardTest, AStoreHoldsAReserveThatGrowsWithItsLogAndAClosedOneASmallOne) {
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

// The store's own thread may make a file meanwhile.
void RemoveWhole(const std::string& path) {
  std::error_code failed;
  do {
    fs::remove_all(path, failed);
  } while (failed == std::errc::directory_not_empty);
}

TEST_P(DiskGuardTest, WritesAreRefusedOnceTheDirectoryIsRemoved) {
  const auto store = OpenStore({.directory = data_, .durability = GetParam()});
  MakeBucket(*store);
  ASSERT_TRUE(PutText(*store, "before", "body").ok());
  const PutObject begun = MakePut(*store, "begun", "body");
  RemoveWhole(data_);
  const auto put = store->Put(begun);
  ASSERT_FALSE(put.ok()) << "acknowledged, and gone";
  EXPECT_EQ(put.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(put.error().code, "InternalError");
  EXPECT_NE(put.error().message.find("directory was removed"), std::string::npos);
  EXPECT_FALSE(store->NewBlob(0).ok());
  EXPECT_FALSE(Remove(*store, "before").ok());
  BucketRecord bucket;
  bucket.name = BucketName("another");
  EXPECT_FALSE(store->CreateBucket(bucket).ok());
}

TEST_P(DiskGuardTest, TheNextWriteIsRefusedOnceAFileOfTheStoreIsRemoved) {
  for (const char* name : {"/blobs", "/penstock.db-wal", "/penstock.db"}) {
    const TemporaryDirectory directory;
    const auto store = OpenStore({.directory = directory.path(), .durability = GetParam()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "before", "body").ok());
    RemoveWhole(directory.path() + name);
    EXPECT_FALSE(PutText(*store, "key", "body").ok()) << name;
  }
}

// What the store and others make and remove there is no reason to refuse writes.
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
