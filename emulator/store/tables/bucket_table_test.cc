#include "emulator/store/tables/bucket_table.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

Bucket MakeRecord(std::int64_t id, const std::string& name) {
  auto record = std::make_shared<BucketRecord>();
  record->name = BucketName(name);
  record->versioning = Versioning::kEnabled;
  record->configuration = {{"policy", "{}"}};
  return {id, record};
}

TEST(BucketTable, LoadsWrittenBuckets) {
  const auto database = OpenDatabase(":memory:", Durability::kRelaxed);
  ASSERT_TRUE(WriteBucket(**database, MakeRecord(7, "b")).ok());
  ASSERT_TRUE(WriteBucket(**database, MakeRecord(8, "gone")).ok());
  ASSERT_TRUE(RemoveBucket(**database, 8).ok());
  BucketTable table;
  ASSERT_TRUE(table.Load(**database).ok());
  ASSERT_EQ(table.All().size(), 1u);
  const auto found = table.Find(BucketName("b"));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->id, 7);
  EXPECT_EQ(found->record->versioning, Versioning::kEnabled);
  EXPECT_EQ(found->record->configuration, (Attributes{{"policy", "{}"}}));
}

TEST(BucketTable, TheErrorNamesAMissingBucket) {
  BucketTable table;
  table.Set(MakeRecord(1, "b"));
  table.Erase(BucketName("b"));
  const auto missing = table.Find(BucketName("b"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, "NoSuchBucket");
  EXPECT_EQ(missing.error().bucket, "b");
}

TEST(BucketTable, ReadersOfAHeldBucketWaitUntilItIsReleased) {
  BucketTable table;
  table.Set(MakeRecord(1, "b"));
  table.Set(MakeRecord(2, "other"));
  table.Hold(BucketName("b"));
  EXPECT_TRUE(table.Find(BucketName("other")).ok()) << "other buckets are not held";
  std::promise<bool> found;
  std::promise<std::size_t> listed;
  const std::jthread finder([&] { found.set_value(table.Find(BucketName("b")).ok()); });
  const std::jthread lister([&] { listed.set_value(table.All().size()); });
  table.Erase(BucketName("b"));
  table.Release();
  EXPECT_FALSE(found.get_future().get());
  EXPECT_EQ(listed.get_future().get(), 1u);
}

}  // namespace
}  // namespace penstock::emulator::store
