// The semantics of each versioning state (Amazon S3 User Guide, "How S3 Versioning works"), tested
// through the store.
#include "emulator/store/tables/object_writes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class VersioningTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeBucket(*store_); }
  void SetVersioning(Versioning versioning) {
    ASSERT_TRUE(store_->SetVersioning(kBucket, versioning).ok());
  }
  std::string Put(const std::string& body) {
    return PutText(*store_, "key", body)->object->version_id.value;
  }
  std::size_t CountVersions() {
    return store_->List(ListVersions{.bucket = kBucket})->entries.size();
  }
  std::unique_ptr<Store> store_ = OpenStore({});
};

TEST_F(VersioningTest, EnabledKeepsEveryVersionIncludingTheNullVersion) {
  EXPECT_EQ(Put("old"), "null");
  SetVersioning(Versioning::kEnabled);
  const std::string id = Put("new");
  EXPECT_NE(id, "null");
  EXPECT_EQ(Get(*store_, "key"), "new");
  EXPECT_EQ(Get(*store_, "key", kBucket, VersionId("null")), "old");
  EXPECT_FALSE((*store_->FindObject(kBucket, ObjectKey("key"), VersionId("null")))->is_latest);
}

TEST_F(VersioningTest, TheRemovalPreconditionCanKeepTheNamedVersion) {
  SetVersioning(Versioning::kEnabled);
  const std::string old = Put("old");
  Put("new");
  std::vector<std::string> checked;
  const auto removal = [&](const ObjectRecord* version) -> Result<void> {
    checked.push_back(version == nullptr ? "none" : version->version_id.value);
    return Error::Make(ErrorKind::kAccessDenied, "kept");
  };
  const auto remove = [&](std::optional<VersionId> version) {
    return store_->Delete(DeleteObject{kBucket, ObjectKey("key"), std::move(version), {}, removal});
  };
  EXPECT_EQ(remove(VersionId(old)).error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(remove(VersionId("absent")).error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(checked, (std::vector<std::string>{old, "none"}));
  EXPECT_EQ(Get(*store_, "key", kBucket, VersionId(old)), "old");
  const auto hidden = remove(std::nullopt);
  ASSERT_TRUE(hidden.ok());
  EXPECT_TRUE(hidden->created_marker);
  EXPECT_EQ(checked.size(), 2u) << "adding a marker removes no version";
}

TEST_F(VersioningTest, SuspendedReplacesOnlyTheNullVersion) {
  SetVersioning(Versioning::kEnabled);
  const std::string id = Put("kept");
  SetVersioning(Versioning::kSuspended);
  EXPECT_EQ(Put("first null"), "null");
  EXPECT_EQ(Put("second null"), "null");
  EXPECT_EQ(CountVersions(), 2u);
  EXPECT_EQ(Get(*store_, "key", kBucket, VersionId(id)), "kept");
  EXPECT_EQ(Get(*store_, "key"), "second null");
}

TEST_F(VersioningTest, AnArchivedNullVersionIsReplaced) {
  Put("null");
  SetVersioning(Versioning::kEnabled);
  Put("newer");
  SetVersioning(Versioning::kSuspended);
  Put("new null");
  EXPECT_EQ(CountVersions(), 2u);
  EXPECT_EQ(Get(*store_, "key", kBucket, VersionId("null")), "new null");
}

TEST_F(VersioningTest, AMarkerHidesTheKeyUntilItIsRemoved) {
  SetVersioning(Versioning::kEnabled);
  Put("body");
  const auto deleted = Remove(*store_, "key");
  ASSERT_TRUE(deleted.ok());
  EXPECT_TRUE(deleted->created_marker);
  EXPECT_EQ(Get(*store_, "key"), "[marker]");
  const auto undeleted = Remove(*store_, "key", deleted->version_id);
  EXPECT_TRUE(undeleted->removed_marker);
  EXPECT_EQ(Get(*store_, "key"), "body");
}

TEST_F(VersioningTest, DeletingAnAbsentKeyAddsAMarker) {
  SetVersioning(Versioning::kEnabled);
  const auto deleted = Remove(*store_, "key");
  EXPECT_FALSE(deleted->existed);
  EXPECT_TRUE(deleted->created_marker);
  EXPECT_EQ(CountVersions(), 1u);
}

TEST_F(VersioningTest, SuspendedDeletesLeaveOneNullMarker) {
  SetVersioning(Versioning::kSuspended);
  Put("null");
  EXPECT_EQ(Remove(*store_, "key")->version_id.value, "null");
  EXPECT_EQ(Remove(*store_, "key")->version_id.value, "null");
  EXPECT_EQ(CountVersions(), 1u);
  Put("again");
  EXPECT_EQ(CountVersions(), 1u);
  EXPECT_EQ(Get(*store_, "key"), "again");
}

TEST_F(VersioningTest, RemovingTheLatestPromotesThePreviousVersion) {
  SetVersioning(Versioning::kEnabled);
  Put("1");
  const std::string second = Put("2");
  EXPECT_TRUE(Remove(*store_, "key", VersionId(second))->existed);
  EXPECT_EQ(Get(*store_, "key"), "1");
  EXPECT_TRUE((*store_->FindObject(kBucket, ObjectKey("key")))->is_latest);
}

TEST_F(VersioningTest, APreconditionSeesTheMarker) {
  SetVersioning(Versioning::kEnabled);
  Put("1");
  ASSERT_TRUE(Remove(*store_, "key").ok());
  PutObject put = MakePut(*store_, "key", "2");
  bool marker = false;
  put.precondition = [&](const ObjectRecord* current) {
    marker = current != nullptr && current->is_delete_marker;
    return Ok();
  };
  ASSERT_TRUE(store_->Put(put).ok());
  EXPECT_TRUE(marker);
}

TEST_F(VersioningTest, TagsOfAMarkerAreRejected) {
  SetVersioning(Versioning::kEnabled);
  ASSERT_TRUE(Remove(*store_, "key").ok());
  EXPECT_EQ(store_->SetTags(kBucket, ObjectKey("key"), std::nullopt, {}).error().code,
            "MethodNotAllowed");
}

}  // namespace
}  // namespace penstock::emulator::store
