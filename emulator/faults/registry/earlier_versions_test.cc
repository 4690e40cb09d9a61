#include "emulator/faults/registry/earlier_versions.h"

#include "emulator/faults/actions/history_store.h"
#include "emulator/faults/test_support.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::faults {
namespace {

using store::testing::kBucket;
using store::testing::PutText;

class EarlierVersionsTest : public testing::Test {
 protected:
  EarlierVersionsTest() { space_->store = store_; }
  std::string Before(const std::string& target) {
    TestRequest request("GET", target);
    request.exchange().space = space_;
    const store::ObjectPtr object = VersionBefore(request.exchange(), versions_);
    return object ? store::testing::Text(object->content) : "none";
  }

  const std::shared_ptr<store::Store> store_ = store::testing::OpenStore({});
  const std::shared_ptr<s3::Namespace> space_ = std::make_shared<s3::Namespace>();
  EarlierVersions versions_;
};

TEST_F(EarlierVersionsTest, UnversionedBucketUsesRecordedObject) {
  store::testing::MakeBucket(*store_);
  const auto first = PutText(*store_, "k", "1");
  ASSERT_TRUE(PutText(*store_, "k", "2").ok());
  EXPECT_EQ(Before("/bucket/k"), "none");
  versions_.Record("bucket", first->object);
  EXPECT_EQ(Before("/bucket/k"), "1");
  EXPECT_EQ(Before("/bucket/other"), "none");
  versions_.Clear();
  EXPECT_EQ(Before("/bucket/k"), "none");
}

TEST_F(EarlierVersionsTest, VersionedBucketUsesPrecedingVersion) {
  store::testing::MakeBucket(*store_, kBucket, store::Versioning::kEnabled);
  ASSERT_TRUE(PutText(*store_, "k", "1").ok());
  const auto second = PutText(*store_, "k", "2");
  ASSERT_TRUE(store::testing::Remove(*store_, "k").ok());
  ASSERT_TRUE(PutText(*store_, "k", "3").ok());
  ASSERT_TRUE(PutText(*store_, "k2", "other").ok());
  EXPECT_EQ(Before("/bucket/k"), "2") << "a delete marker has no bytes";
  EXPECT_EQ(Before("/bucket/k?versionId=" + second->object->version_id.value), "1");
  EXPECT_EQ(Before("/bucket/k2"), "none");
}

TEST_F(EarlierVersionsTest, RecordsObjectsOfMultiObjectDelete) {
  store::testing::MakeBucket(*store_);
  ASSERT_TRUE(PutText(*store_, "a", "1").ok());
  HistoryStore recording(store_, versions_);
  const BucketName bucket("bucket");
  const auto outcomes = recording.Delete(std::vector<store::DeleteObject>{
      {.bucket = bucket, .key = ObjectKey("a"), .version_id = {}, .precondition = {}},
      {.bucket = bucket, .key = ObjectKey("none"), .version_id = {}, .precondition = {}}});
  ASSERT_EQ(outcomes.size(), 2U);
  ASSERT_TRUE(PutText(*store_, "a", "2").ok());
  EXPECT_EQ(Before("/bucket/a"), "1");
  EXPECT_EQ(Before("/bucket/none"), "none");
}

TEST_F(EarlierVersionsTest, EvictsInOrderOfInsertion) {
  for (std::size_t i = 0; i <= EarlierVersions::kMax; ++i) {
    auto object = std::make_shared<store::ObjectRecord>();
    object->key = ObjectKey(std::to_string(i));
    versions_.Record("bucket", object);
  }
  EXPECT_EQ(versions_.Find("bucket", "0"), nullptr);
  EXPECT_NE(versions_.Find("bucket", "1"), nullptr);
}

TEST_F(EarlierVersionsTest, CurrentObjectIsNotADeleteMarker) {
  store::testing::MakeBucket(*store_, kBucket, store::Versioning::kEnabled);
  TestRequest request("PUT", "/bucket/k");
  request.exchange().space = space_;
  EXPECT_EQ(CurrentObject(request.exchange()), nullptr);
  ASSERT_TRUE(PutText(*store_, "k", "1").ok());
  EXPECT_NE(CurrentObject(request.exchange()), nullptr);
  ASSERT_TRUE(store::testing::Remove(*store_, "k").ok());
  EXPECT_EQ(CurrentObject(request.exchange()), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::faults
