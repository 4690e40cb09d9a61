#include "emulator/server/universe.h"

#include <gtest/gtest.h>

#include <thread>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

void MakeBucket(api::Namespace& space, const char* name) {
  store::BucketRecord bucket;
  bucket.name = BucketName(name);
  ASSERT_TRUE(space.store->CreateBucket(bucket).ok());
}

int Generations(const std::string& path) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(path)) count += entry.is_directory() ? 1 : 0;
  return count;
}

TEST(UniverseTest, ResetPutsAnEmptyStoreInPlace) {
  const auto universe = Universe::Open({.clock = &SystemClock()});
  ASSERT_TRUE(universe.ok());
  MakeBucket(*(*universe)->Current(), "bucket");
  ASSERT_TRUE((*universe)->Reset().ok());
  EXPECT_FALSE((*universe)->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST(UniverseTest, ARequestKeepsTheStoreItBeganWith) {
  const TemporaryFolder folder;
  const auto universe = Universe::Open({.directory = folder.path(), .clock = &SystemClock()});
  ASSERT_TRUE(universe.ok());
  const auto held = (*universe)->Current();
  MakeBucket(*held, "bucket");
  ASSERT_TRUE((*universe)->Reset().ok());
  EXPECT_TRUE(held->store->FindBucket(BucketName("bucket")).ok());
  EXPECT_NE(held, (*universe)->Current());
}

TEST(UniverseTest, AResetRemovesTheOldFolder) {
  const TemporaryFolder folder;
  {
    const auto universe = Universe::Open({.directory = folder.path(), .clock = &SystemClock()});
    ASSERT_TRUE(universe.ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE((*universe)->Reset().ok());
  }
  EXPECT_EQ(Generations(folder.path()), 1);
  const auto again = Universe::Open({.directory = folder.path(), .clock = &SystemClock()});
  EXPECT_TRUE(again.ok());
}

TEST(UniverseTest, ResetsFromManyThreads) {
  const auto universe = Universe::Open({.clock = &SystemClock()});
  ASSERT_TRUE(universe.ok());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&universe] {
        for (int j = 0; j < 20; ++j) {
          const auto space = (*universe)->Current();
          EXPECT_TRUE(space->store->ListBuckets().ok());
          EXPECT_TRUE((*universe)->Reset().ok());
        }
      });
    }
  }
  EXPECT_TRUE((*universe)->Current()->store->ListBuckets().ok());
}

TEST(UniverseTest, NamesADirectoryItCannotUse) {
  EXPECT_FALSE(Universe::Open({.directory = "/proc/penstock", .clock = &SystemClock()}).ok());
}

}  // namespace
}  // namespace penstock::emulator::server
