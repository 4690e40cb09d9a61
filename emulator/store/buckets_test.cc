#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/store_testing.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class BucketsTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  StoreOptions options_{.directory = directory_.path()};
  std::unique_ptr<Store> store_ = OpenStore(options_);
};

TEST_F(BucketsTest, KeepAllFieldsAfterReopening) {
  MakeBucket(*store_, kBucket, Versioning::kSuspended);
  ASSERT_TRUE(store_->SetConfiguration(kBucket, "policy", "{}").ok());
  ASSERT_TRUE(store_->SetConfiguration(kBucket, "cors", "<c/>").ok());
  ASSERT_TRUE(store_->SetConfiguration(kBucket, "cors", std::nullopt).ok());
  const WallTime created = (*store_->FindBucket(kBucket))->created;
  store_.reset();
  store_ = OpenStore(options_);
  const auto found = store_->FindBucket(kBucket);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->owner_id, "owner");
  EXPECT_EQ((*found)->region, "us-east-1");
  EXPECT_EQ((*found)->created, created);
  EXPECT_EQ((*found)->versioning, Versioning::kSuspended);
  EXPECT_EQ((*found)->configuration, (Attributes{{"policy", "{}"}}));
}

TEST_F(BucketsTest, RejectsADuplicateName) {
  MakeBucket(*store_);
  BucketRecord again{.name = kBucket, .owner_id = "owner"};
  EXPECT_EQ(store_->CreateBucket(again).error().code, "BucketAlreadyOwnedByYou");
  again.owner_id = "another owner";
  EXPECT_EQ(store_->CreateBucket(again).error().code, "BucketAlreadyExists");
}

TEST_F(BucketsTest, EnforcesTheLimitPerOwnerUnderConcurrency) {
  constexpr std::size_t kMaxBuckets = 3;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> creators;
    for (int i = 0; i < 8; ++i) {
      creators.emplace_back([&, i] {
        const BucketRecord bucket{.name = BucketName("bucket-" + std::to_string(i)),
                                  .owner_id = "owner"};
        const auto created = store_->CreateBucket(bucket, kMaxBuckets);
        if (!created.ok() && created.error().code == "TooManyBuckets") ++refused;
      });
    }
  }
  EXPECT_EQ(store_->ListBuckets()->size(), kMaxBuckets);
  EXPECT_EQ(refused, 5);
  EXPECT_TRUE(
      store_->CreateBucket(BucketRecord{.name = kBucket, .owner_id = "another"}, kMaxBuckets).ok());
}

TEST_F(BucketsTest, ListsInOrderOfNames) {
  for (const char* name : {"b", "c", "a"}) MakeBucket(*store_, BucketName(name));
  const auto all = store_->ListBuckets();
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0]->name.value, "a");
  EXPECT_EQ((*all)[2]->name.value, "c");
}

TEST_F(BucketsTest, DeletesOnlyEmptyBuckets) {
  MakeBucket(*store_);
  ASSERT_TRUE(PutText(*store_, "key", "x").ok());
  EXPECT_EQ(store_->DeleteBucket(kBucket).error().code, "BucketNotEmpty");
  ASSERT_TRUE(Remove(*store_, "key").ok());
  EXPECT_TRUE(store_->DeleteBucket(kBucket).ok());
  EXPECT_EQ(store_->FindBucket(kBucket).error().code, "NoSuchBucket");
  EXPECT_EQ(store_->DeleteBucket(kBucket).error().code, "NoSuchBucket");
}

TEST_F(BucketsTest, DeleteMarkersBlockTheDeletionOfABucket) {
  MakeBucket(*store_, kBucket, Versioning::kEnabled);
  const auto marker = Remove(*store_, "key");
  EXPECT_EQ(store_->DeleteBucket(kBucket).error().code, "BucketNotEmpty");
  ASSERT_TRUE(Remove(*store_, "key", marker->version_id).ok());
  EXPECT_TRUE(store_->DeleteBucket(kBucket).ok());
}

TEST_F(BucketsTest, VersioningCannotBeRemoved) {
  MakeBucket(*store_, kBucket, Versioning::kEnabled);
  EXPECT_EQ(store_->SetVersioning(kBucket, Versioning::kNever).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_TRUE(store_->SetVersioning(kBucket, Versioning::kSuspended).ok());
}

// Returns how many buckets fit, each with `document` as a setting.
int FillWithBuckets(Store& store, const std::string& document) {
  for (int i = 0; i < 10'000; ++i) {
    const BucketName name("fill-" + std::to_string(i));
    auto stored = store.CreateBucket({.name = name, .owner_id = "owner"});
    if (stored.ok() && !document.empty())
      stored = store.SetConfiguration(name, "lifecycle", document);
    if (!stored.ok()) {
      EXPECT_EQ(stored.error().code, "InsufficientStorage");
      return i;
    }
  }
  ADD_FAILURE() << "nothing was refused";
  return 0;
}

TEST(BucketMemory, CountsSettings) {
  const auto limit = std::make_shared<MemoryLimit>(16 << 20);
  const auto store = OpenStore({.memory_limit = limit});
  const std::string document(260'000, 'x');
  const int stored = FillWithBuckets(*store, document);
  EXPECT_GT(stored, 8);
  EXPECT_LE(stored, 31) << "each is in the database and in the record";
  EXPECT_LE(limit->used_bytes(), limit->limit_bytes());
}

TEST(BucketMemory, RefusesASettingWithoutRoomAndKeepsTheOldOne) {
  const auto limit = std::make_shared<MemoryLimit>(2 << 20);
  const auto store = OpenStore({.memory_limit = limit});
  MakeBucket(*store);
  ASSERT_TRUE(store->SetConfiguration(kBucket, "policy", "{}").ok());
  const std::uint64_t used = limit->used_bytes();
  EXPECT_EQ(store->SetConfiguration(kBucket, "policy", std::string(1 << 20, 'p')).error().code,
            "InsufficientStorage");
  EXPECT_EQ(limit->used_bytes(), used);
  EXPECT_EQ((*store->FindBucket(kBucket))->configuration, (Attributes{{"policy", "{}"}}));
}

TEST(BucketMemory, SettingsCanBeRemovedFromAFullStoreAndSetAgain) {
  const auto limit = std::make_shared<MemoryLimit>(8 << 20);
  const auto store = OpenStore({.memory_limit = limit});
  const std::string document(100'000, 'x');
  const int stored = FillWithBuckets(*store, document);
  const std::uint64_t full = limit->used_bytes();
  const auto name = [](int i) { return BucketName("fill-" + std::to_string(i)); };
  for (int i = 0; i < stored; ++i)
    ASSERT_TRUE(store->SetConfiguration(name(i), "lifecycle", std::nullopt).ok());
  EXPECT_LT(limit->used_bytes(), full / 4);
  for (int i = 0; i < stored; ++i)
    ASSERT_TRUE(store->SetConfiguration(name(i), "lifecycle", document).ok()) << i;
  const auto buckets = store->ListBuckets();
  for (const BucketPtr& bucket : *buckets) ASSERT_TRUE(store->DeleteBucket(bucket->name).ok());
  EXPECT_GE(FillWithBuckets(*store, document), stored);
}

TEST(BucketMemory, CountsBuckets) {
  const auto limit = std::make_shared<MemoryLimit>(1 << 20);
  const auto store = OpenStore({.memory_limit = limit});
  EXPECT_GT(FillWithBuckets(*store, ""), 100);
  EXPECT_LE(limit->used_bytes(), limit->limit_bytes());
}

// Settings that need no more memory are changed also in a full store.
TEST(BucketMemory, AFullStoreAcceptsSettingsThatDoNotGrow) {
  const auto limit = std::make_shared<MemoryLimit>(8 << 20);
  const auto store = OpenStore({.memory_limit = limit});
  ASSERT_GT(FillWithBuckets(*store, std::string(100'000, 'x')), 0);
  const BucketName name("fill-0");
  EXPECT_TRUE(store->SetVersioning(name, Versioning::kEnabled).ok());
  EXPECT_TRUE(store->SetConfiguration(name, "lifecycle", std::string(99'000, 'y')).ok());
}

}  // namespace
}  // namespace penstock::emulator::store
