#include "emulator/server/namespaces/namespace_store.h"

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

TEST(NamespaceStoreTest, ResetInstallsAnEmptyStore) {
  const auto namespace_store = NamespaceStore::Open({.clock = &SystemClock()});
  ASSERT_TRUE(namespace_store.ok());
  MakeBucket(*(*namespace_store)->Current(), "bucket");
  ASSERT_TRUE((*namespace_store)->Reset().ok());
  EXPECT_FALSE((*namespace_store)->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST(NamespaceStoreTest, RequestKeepsItsStoreAcrossAReset) {
  const TemporaryFolder folder;
  const auto namespace_store =
      NamespaceStore::Open({.directory = folder.path(), .clock = &SystemClock()});
  ASSERT_TRUE(namespace_store.ok());
  const auto held = (*namespace_store)->Current();
  MakeBucket(*held, "bucket");
  ASSERT_TRUE((*namespace_store)->Reset().ok());
  EXPECT_TRUE(held->store->FindBucket(BucketName("bucket")).ok());
  EXPECT_NE(held, (*namespace_store)->Current());
}

TEST(NamespaceStoreTest, ResetRemovesTheOldDirectory) {
  const TemporaryFolder folder;
  {
    const auto namespace_store =
        NamespaceStore::Open({.directory = folder.path(), .clock = &SystemClock()});
    ASSERT_TRUE(namespace_store.ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE((*namespace_store)->Reset().ok());
  }
  EXPECT_EQ(Generations(folder.path()), 1);
  const auto again = NamespaceStore::Open({.directory = folder.path(), .clock = &SystemClock()});
  EXPECT_TRUE(again.ok());
}

TEST(NamespaceStoreTest, ResetsFromManyThreads) {
  const auto namespace_store = NamespaceStore::Open({.clock = &SystemClock()});
  ASSERT_TRUE(namespace_store.ok());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&namespace_store] {
        for (int j = 0; j < 20; ++j) {
          const auto space = (*namespace_store)->Current();
          EXPECT_TRUE(space->store->ListBuckets().ok());
          EXPECT_TRUE((*namespace_store)->Reset().ok());
        }
      });
    }
  }
  EXPECT_TRUE((*namespace_store)->Current()->store->ListBuckets().ok());
}

// Stores an object that is large enough for its own file.
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

TEST(NamespaceStoreTest, RequestsInADiscardedNamespaceContinue) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/one";
  const auto leases = DirectoryLeases::Create();
  auto old =
      NamespaceStore::Open({.directory = path, .clock = &SystemClock(), .leases = leases}).value();
  auto held = old->Current();
  MakeBucket(*held, "bucket");
  ASSERT_TRUE(old->Discard().ok());
  EXPECT_EQ(old->Reset().error().kind, ErrorKind::kNotFound);
  auto anew =
      NamespaceStore::Open({.directory = path, .clock = &SystemClock(), .leases = leases}).value();
  EXPECT_TRUE(PutObject(*held, "key").ok());
  EXPECT_TRUE(PutObject(*old->Current(), "late").ok());  // found its user before the deletion
  const auto listed = held->store->List(store::ListObjects{.bucket = BucketName("bucket")});
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->entries.size(), 2u);
  EXPECT_FALSE(anew->Current()->store->FindBucket(BucketName("bucket")).ok());
  MakeBucket(*anew->Current(), "bucket");
  EXPECT_EQ(anew->Current()
                ->store->List(store::ListObjects{.bucket = BucketName("bucket")})
                ->entries.size(),
            0u);
  EXPECT_EQ(Generations(path), 2);
  old.reset();
  EXPECT_EQ(Generations(path), 2);
  held.reset();
  EXPECT_EQ(Generations(path), 1);
  ASSERT_TRUE(anew->Reset().ok());
  MakeBucket(*anew->Current(), "kept");
  anew.reset();
  const auto again = NamespaceStore::Open({.directory = path, .clock = &SystemClock()});
  EXPECT_TRUE((*again)->Current()->store->FindBucket(BucketName("kept")).ok());
}

// Occupies a remover's thread until the test ends it.
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

TEST(NamespaceStoreTest, LastRequestDoesNotWaitForTheRemoval) {
  const TemporaryFolder folder;
  std::promise<void> begun;
  std::promise<void> end;
  auto remover = std::make_shared<StoreRemover>();
  const auto namespace_store =
      NamespaceStore::Open(
          {.directory = folder.path(), .clock = &SystemClock(), .remover = remover})
          .value();
  remover->Add(std::make_unique<Busy>(begun, end.get_future()));
  begun.get_future().wait();
  auto request = namespace_store->Current();
  ASSERT_TRUE(namespace_store->Reset().ok());
  request.reset();
  EXPECT_EQ(Generations(folder.path()), 2);
  EXPECT_TRUE(namespace_store->Current()->store->ListBuckets().ok());
  end.set_value();
}

class ClosedNamespaceStoreTest : public testing::Test {
 protected:
  std::shared_ptr<NamespaceStore> Open(const std::string& name) {
    auto opened = NamespaceStore::Open({.name = name,
                                        .directory = folder_.path() + "/" + name,
                                        .clock = &SystemClock(),
                                        .leases = leases_,
                                        .open_stores = open_stores_});
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.value();
  }
  // Whether the directory's lock is free: then no descriptor of the store is open.
  bool IsClosed(const std::string& name) const {
    return DataDirectory::Open(folder_.path() + "/" + name).ok();
  }

  const TemporaryFolder folder_;
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
  const std::shared_ptr<OpenStores> open_stores_ = std::make_shared<OpenStores>(1);
};

TEST_F(ClosedNamespaceStoreTest, IdleStoreIsClosedAndReopenedIntact) {
  const auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  ASSERT_TRUE(PutObject(*one->Current(), "key").ok());
  const auto controls = one->CurrentControls();
  const auto two = Open("two");
  EXPECT_TRUE(IsClosed("one"));
  EXPECT_FALSE(IsClosed("two"));
  const auto again = one->Current();
  EXPECT_TRUE(again->store->FindObject(BucketName("bucket"), ObjectKey("key"), std::nullopt).ok());
  EXPECT_EQ(again->controls, controls);
  EXPECT_TRUE(IsClosed("two"));
}

TEST_F(ClosedNamespaceStoreTest, StoreInUseStaysOpen) {
  const auto one = Open("one");
  auto request = one->Current();
  const auto two = Open("two");
  EXPECT_FALSE(IsClosed("one"));
  EXPECT_EQ(one->Current(), request);
  request.reset();
  const auto three = Open("three");
  EXPECT_TRUE(IsClosed("one"));
}

TEST_F(ClosedNamespaceStoreTest, StoreWithFaultStateStaysOpen) {
  const auto one = Open("one");
  ASSERT_TRUE(one->CurrentControls()->faults().Start(faults::Scenario()).ok());
  const auto two = Open("two");
  EXPECT_FALSE(IsClosed("one"));
}

TEST_F(ClosedNamespaceStoreTest, ResetOfAClosedStoreEmptiesIt) {
  const auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  const auto two = Open("two");
  ASSERT_TRUE(IsClosed("one"));
  ASSERT_TRUE(one->Reset().ok());
  EXPECT_FALSE(one->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST_F(ClosedNamespaceStoreTest, DiscardOfAClosedStoreDeletesIt) {
  auto one = Open("one");
  MakeBucket(*one->Current(), "bucket");
  const auto two = Open("two");
  ASSERT_TRUE(one->Discard().ok());
  one.reset();
  EXPECT_FALSE(Open("one")->Current()->store->FindBucket(BucketName("bucket")).ok());
}

TEST_F(ClosedNamespaceStoreTest, ConcurrentRequestsAndClosingLoseNothing) {
  const std::vector<std::shared_ptr<NamespaceStore>> stores{Open("one"), Open("two"),
                                                            Open("three")};
  for (const auto& namespace_store : stores) MakeBucket(*namespace_store->Current(), "bucket");
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 20; ++i) {
          const auto space =
              stores[static_cast<std::size_t>(thread + i) % stores.size()]->Current();
          ASSERT_NE(space, nullptr);
          EXPECT_TRUE(PutObject(*space, std::to_string(thread) + "-" + std::to_string(i)).ok());
        }
      });
    }
  }
  std::size_t objects = 0;
  for (const auto& namespace_store : stores) {
    objects += namespace_store->Current()
                   ->store->List(store::ListObjects{.bucket = BucketName("bucket")})
                   ->entries.size();
  }
  EXPECT_EQ(objects, 80u);
}

TEST(NamespaceStoreTest, NamesAnUnusableDirectory) {
  EXPECT_FALSE(NamespaceStore::Open({.directory = "/proc/penstock", .clock = &SystemClock()}).ok());
}

// It was opened before, or a start has found it.
TEST(NamespaceStoreTest, ClosedStoreThatWasRemovedIsAnError) {
  for (const char* removed : {"", "/generation", "/all"}) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/one";
    const auto namespace_store =
        NamespaceStore::Open({.name = "one",
                              .directory = path,
                              .clock = &SystemClock(),
                              .open_stores = std::make_shared<OpenStores>(8)})
            .value();
    ASSERT_TRUE(namespace_store->CloseIfIdle());
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_directory() || removed == std::string("/all")) fs::remove_all(entry.path());
    }
    if (*removed == '\0') fs::remove_all(path);
    const auto entered = namespace_store->Enter();
    ASSERT_FALSE(entered.ok()) << removed;
    EXPECT_EQ(entered.error().kind, ErrorKind::kDataLoss) << entered.error().ToString();
    EXPECT_FALSE(namespace_store->Reset().ok()) << removed;
    EXPECT_EQ(namespace_store->Current(), nullptr) << removed;
    EXPECT_EQ(fs::exists(path), *removed != '\0');
    const auto found = NamespaceStore::Make(
        {.name = "one", .directory = path, .exists = true, .clock = &SystemClock()});
    EXPECT_FALSE((*found)->Enter().ok()) << removed;
  }
}

}  // namespace
}  // namespace penstock::emulator::server
