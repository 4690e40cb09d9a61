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

// An object with a file of its own.
Result<void> PutObject(api::Namespace& space, const std::string& key) {
  PENSTOCK_ASSIGN(auto writer, space.store->NewBlob(0));
  PENSTOCK_TRY(writer->Append(AsBytes(std::string(100'000, 'x'))));
  store::PutObject put;
  put.bucket = BucketName("bucket");
  put.record.key = ObjectKey(key);
  put.record.size = 100'000;
  PENSTOCK_ASSIGN(put.record.content, writer->Finish());
  PENSTOCK_TRY(space.store->Put(std::move(put)));
  return Ok();
}

TEST(UniverseTest, WhoIsInADiscardedOneWorksOnAndNobodyMeetsIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/one";
  const auto leases = DirectoryLeases::Create();
  auto old = Universe::Open({.directory = path, .clock = &SystemClock(), .leases = leases}).value();
  auto held = old->Current();
  MakeBucket(*held, "bucket");
  ASSERT_TRUE(old->Discard().ok());
  EXPECT_EQ(old->Reset().error().kind, ErrorKind::kNotFound);
  auto anew = Universe::Open({.directory = path, .clock = &SystemClock(), .leases = leases}).value();
  EXPECT_TRUE(PutObject(*held, "key").ok());
  EXPECT_TRUE(PutObject(*old->Current(), "late").ok());  // found its user before, and comes now
  const auto listed = held->store->List(store::ListObjects{.bucket = BucketName("bucket")});
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->entries.size(), 2u);
  EXPECT_FALSE(anew->Current()->store->FindBucket(BucketName("bucket")).ok());
  MakeBucket(*anew->Current(), "bucket");
  EXPECT_EQ(anew->Current()->store->List(store::ListObjects{.bucket = BucketName("bucket")})->entries.size(), 0u);
  EXPECT_EQ(Generations(path), 2);
  old.reset();
  EXPECT_EQ(Generations(path), 2);
  held.reset();
  EXPECT_EQ(Generations(path), 1);
  ASSERT_TRUE(anew->Reset().ok());
  MakeBucket(*anew->Current(), "kept");
  anew.reset();
  const auto again = Universe::Open({.directory = path, .clock = &SystemClock()});
  EXPECT_TRUE((*again)->Current()->store->FindBucket(BucketName("kept")).ok());
}

TEST(UniverseTest, NamesADirectoryItCannotUse) {
  EXPECT_FALSE(Universe::Open({.directory = "/proc/penstock", .clock = &SystemClock()}).ok());
}

}  // namespace
}  // namespace penstock::emulator::server
