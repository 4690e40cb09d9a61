#include "emulator/server/namespaces/universe.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

void MakeBucket(s3::Namespace& space, const char* name) {
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
Result<void> PutObject(s3::Namespace& space, const std::string& key) {
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

// Keeps a remover's thread busy until it is destroyed.
struct Busy final : StoreRemover::Item {
  Busy(std::promise<void>& begun, std::future<void> end) : begun_(begun), end_(std::move(end)) {}
  ~Busy() override {
    begun_.set_value();
    end_.wait();
  }

 private:
  std::promise<void>& begun_;
  std::future<void> end_;
};

TEST(UniverseTest, WhoLeavesAResetStoreLastDoesNotWaitForItsRemoval) {
  const TemporaryFolder folder;
  std::promise<void> begun;
  std::promise<void> end;
  auto remover = std::make_shared<StoreRemover>();
  const auto universe = Universe::Open({.directory = folder.path(), .clock = &SystemClock(), .remover = remover}).value();
  remover->Add(std::make_unique<Busy>(begun, end.get_future()));
  begun.get_future().wait();
  auto request = universe->Current();
  ASSERT_TRUE(universe->Reset().ok());
  request.reset();
  EXPECT_EQ(Generations(folder.path()), 2);
  EXPECT_TRUE(universe->Current()->store->ListBuckets().ok());
  end.set_value();
}

class ClosedUniverseTest : public testing::Test {
 protected:
  std::shared_ptr<Universe> Open(const std::string& name) {
    auto opened = Universe::Open({.name = name,
                                  .directory = folder_.path() + "/" + name,
                                  .clock = &SystemClock(),
                                  .leases = leases_,
                                  .open_stores = open_stores_});
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.value();
  }
  // The folder's lock is free: no descriptor of the store is open.
  bool IsClosed(const std::string& name) const { return DataDirectory::Open(folder_.path() + "/" + name).ok(); }

  const TemporaryFolder folder_;
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
  const std::shared_ptr<OpenStores> open_stores_ = std::make_shared<OpenStores>(1);
};

TEST_F(ClosedUniverseTest, AnIdleStoreIsClosedForAnotherAndComesBackWhole) {
  const auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  ASSERT_TRUE(PutObject(*one->Current(), "key").ok());
  const auto instruments = one->CurrentInstruments();
  const auto two = Open("two");
  EXPECT_TRUE(IsClosed("one"));
  EXPECT_FALSE(IsClosed("two"));
  const auto again = one->Current();
  EXPECT_TRUE(again->store->FindObject(BucketName("bucket"), ObjectKey("key"), std::nullopt).ok());
  EXPECT_EQ(again->instruments, instruments);
  EXPECT_TRUE(IsClosed("two"));
}

TEST_F(ClosedUniverseTest, AStoreThatARequestUsesStaysOpen) {
  const auto one = Open("one");
  auto request = one->Current();
  const auto two = Open("two");
  EXPECT_FALSE(IsClosed("one"));
  EXPECT_EQ(one->Current(), request);
  request.reset();
  const auto three = Open("three");
  EXPECT_TRUE(IsClosed("one"));
}

TEST_F(ClosedUniverseTest, AStoreWhoseFaultsKeepSomethingStaysOpen) {
  const auto one = Open("one");
  ASSERT_TRUE(one->CurrentInstruments()->faults().Start({}).ok());
  const auto two = Open("two");
  EXPECT_FALSE(IsClosed("one"));
}

TEST_F(ClosedUniverseTest, AResetOfAClosedOneEmptiesIt) {
  const auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  const auto two = Open("two");
  ASSERT_TRUE(IsClosed("one"));
  ASSERT_TRUE(one->Reset().ok());
  EXPECT_FALSE(one->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST_F(ClosedUniverseTest, AClosedOneThatIsDiscardedIsDeleted) {
  auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  const auto two = Open("two");
  ASSERT_TRUE(one->Discard().ok());
  one.reset();
  EXPECT_FALSE(Open("one")->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST_F(ClosedUniverseTest, RequestsAndClosingFromManyThreadsLoseNothing) {
  const std::vector<std::shared_ptr<Universe>> universes{Open("one"), Open("two"), Open("three")};
  for (const auto& universe : universes) MakeBucket(*universe->Current(), "bucket");
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 20; ++i) {
          const auto space = universes[static_cast<std::size_t>(thread + i) % universes.size()]->Current();
          ASSERT_NE(space, nullptr);
          EXPECT_TRUE(PutObject(*space, std::to_string(thread) + "-" + std::to_string(i)).ok());
        }
      });
    }
  }
  std::size_t objects = 0;
  for (const auto& universe : universes) {
    objects += universe->Current()->store->List(store::ListObjects{.bucket = BucketName("bucket")})->entries.size();
  }
  EXPECT_EQ(objects, 80u);
}

TEST(UniverseTest, NamesADirectoryItCannotUse) {
  EXPECT_FALSE(Universe::Open({.directory = "/proc/penstock", .clock = &SystemClock()}).ok());
}

}  // namespace
}  // namespace penstock::emulator::server
