#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/store_testing.h"

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

}  // namespace
}  // namespace penstock::emulator::store
