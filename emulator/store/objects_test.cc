// Object methods, in both modes and with bodies on either side of the inline limit.
#include <gtest/gtest.h>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

enum class Mode { kMemory, kDirectory, kStrict };

class ObjectsTest : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    if (GetParam() != Mode::kMemory) options_.directory = directory_.path();
    if (GetParam() == Mode::kStrict) options_.durability = Durability::kStrict;
    store_ = OpenStore(options_);
    ASSERT_NE(store_, nullptr);
    MakeBucket(*store_);
  }

  TemporaryDirectory directory_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ObjectsTest,
                         ::testing::Values(Mode::kMemory, Mode::kDirectory, Mode::kStrict),
                         [](const auto& mode) {
                           return mode.param == Mode::kMemory      ? "Memory"
                                  : mode.param == Mode::kDirectory ? "Directory"
                                                                   : "Strict";
                         });

TEST_P(ObjectsTest, ReturnsBodiesOfEverySize) {
  for (const std::size_t size : {0, 1, 32 << 10, (32 << 10) + 1, 100'000, 300'000, 3 << 20}) {
    const std::string body = Body(size);
    ASSERT_TRUE(PutText(*store_, "key", body).ok()) << size;
    EXPECT_EQ(Get(*store_, "key"), body) << size;
  }
}

TEST_P(ObjectsTest, KeepsEveryFieldOfTheRecord) {
  PutObject put = MakePut(*store_, "key", "body");
  put.record.checksum_algorithm = "CRC32C";
  put.record.checksum_type = "FULL_OBJECT";
  put.record.checksum = "c2Vj";
  put.record.attributes = {{"content-type", "text/plain"}, {"x-amz-meta-a", "1"}};
  put.record.tags = {{"t", "v"}};
  ASSERT_TRUE(store_->Put(put).ok());
  if (GetParam() != Mode::kMemory) {
    store_.reset();
    store_ = OpenStore(options_);
  }
  const auto found = store_->FindObject(kBucket, ObjectKey("key"));
  ASSERT_TRUE(found.ok());
  const ObjectRecord& record = **found;
  EXPECT_EQ(record.version_id.value, "null");
  EXPECT_TRUE(record.is_latest);
  EXPECT_EQ(record.size, 4u);
  EXPECT_EQ(record.etag, put.record.etag);
  EXPECT_NE(record.last_modified, WallTime{});
  EXPECT_EQ(record.owner_id, "owner");
  EXPECT_EQ(record.storage_class, "STANDARD");
  EXPECT_EQ(record.checksum_algorithm, "CRC32C");
  EXPECT_EQ(record.checksum_type, "FULL_OBJECT");
  EXPECT_EQ(record.checksum, "c2Vj");
  EXPECT_EQ(record.attributes, put.record.attributes);
  EXPECT_EQ(record.tags, put.record.tags);
}

TEST_P(ObjectsTest, TheErrorCodeNamesTheMissingItem) {
  EXPECT_EQ(Get(*store_, "absent"), "[NoSuchKey]");
  EXPECT_EQ(Get(*store_, "absent", BucketName("nowhere")), "[NoSuchBucket]");
  EXPECT_EQ(Get(*store_, "absent", kBucket, VersionId("null")), "[NoSuchVersion]");
  const auto put = PutText(*store_, "key", "x", BucketName("nowhere"));
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, "NoSuchBucket");
}

TEST_P(ObjectsTest, FindsTheNullVersionOfAnUnversionedObject) {
  ASSERT_TRUE(PutText(*store_, "key", "x").ok());
  EXPECT_EQ(Get(*store_, "key", kBucket, VersionId("null")), "x");
}

TEST_P(ObjectsTest, AReaderKeepsTheBytesOfADeletedObject) {
  const std::string body = Body(500'000);
  ASSERT_TRUE(PutText(*store_, "key", body).ok());
  const auto held = store_->FindObject(kBucket, ObjectKey("key"));
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(Remove(*store_, "key").ok());
  EXPECT_EQ(Get(*store_, "key"), "[NoSuchKey]");
  EXPECT_EQ(Text((*held)->content), body);
}

TEST_P(ObjectsTest, DeletingTwiceSucceeds) {
  ASSERT_TRUE(PutText(*store_, "key", "x").ok());
  EXPECT_TRUE(Remove(*store_, "key")->existed);
  const auto again = Remove(*store_, "key");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->existed);
  EXPECT_TRUE(again->version_id.empty());
}

TEST_P(ObjectsTest, EachOfManyDeletesHasAnOutcome) {
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(PutText(*store_, key, "x").ok());
  std::vector<DeleteObject> requests(4);
  for (DeleteObject& request : requests) request.bucket = BucketName("bucket");
  requests[0].key = ObjectKey("a");
  requests[1].key = ObjectKey("b");
  requests[1].precondition = [](const ObjectRecord*) -> Result<void> {
    return Error::Make(ErrorKind::kConflict, "no");
  };
  requests[2].key = ObjectKey("c");
  requests[2].bucket = BucketName("other");
  requests[3].key = ObjectKey("a");
  requests[3].version_id = VersionId("null");
  const auto outcomes = store_->Delete(std::move(requests));
  ASSERT_EQ(outcomes.size(), 4u);
  ASSERT_TRUE(outcomes[0].ok());
  EXPECT_TRUE(outcomes[0]->existed);
  ASSERT_FALSE(outcomes[1].ok());
  EXPECT_EQ(outcomes[1].error().message, "no");
  ASSERT_FALSE(outcomes[2].ok());
  EXPECT_EQ(outcomes[2].error().code, "NoSuchBucket");
  ASSERT_TRUE(outcomes[3].ok());
  EXPECT_FALSE(outcomes[3]->existed) << "the first request deleted it";
  EXPECT_FALSE(store_->FindObject(BucketName("bucket"), ObjectKey("a")).ok());
  EXPECT_EQ(Get(*store_, "b"), "x");
  EXPECT_EQ(Get(*store_, "c"), "x");
  EXPECT_TRUE(store_->Delete(std::vector<DeleteObject>()).empty());
}

TEST_P(ObjectsTest, AFailedPreconditionChangesNothing) {
  ASSERT_TRUE(PutText(*store_, "key", "old").ok());
  PutObject put = MakePut(*store_, "key", "new");
  std::string seen;
  put.precondition = [&](const ObjectRecord* current) -> Result<void> {
    seen = current == nullptr ? "nothing" : current->etag.value;
    return Error::Make(ErrorKind::kPreconditionFailed, "no");
  };
  const auto refused = store_->Put(put);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(seen, "etag-old");
  EXPECT_EQ(Get(*store_, "key"), "old");
  EXPECT_FALSE(store_->Delete({kBucket, ObjectKey("key"), std::nullopt, put.precondition}).ok());
  EXPECT_EQ(Get(*store_, "key"), "old");
}

TEST_P(ObjectsTest, CopiesShareTheirBlob) {
  const std::string body = Body(200'000);
  ASSERT_TRUE(PutText(*store_, "source", body).ok());
  const auto source = store_->FindObject(kBucket, ObjectKey("source"));
  PutObject copy = MakePut(*store_, "copy", "");
  copy.record.content = (*source)->content;
  copy.record.size = body.size();
  ASSERT_TRUE(store_->Put(copy).ok());
  if (GetParam() != Mode::kMemory) {
    EXPECT_TRUE(WaitForBlobFiles(directory_, 1));
  }
  ASSERT_TRUE(Remove(*store_, "source").ok());
  EXPECT_EQ(Get(*store_, "copy"), body);
}

TEST_P(ObjectsTest, ADeletedObjectThatIsStillReadCanBeCopied) {
  for (const std::size_t size : {100, 200'000}) {
    const std::string body = Body(size);
    ASSERT_TRUE(PutText(*store_, "source", body).ok());
    PutObject copy = MakePut(*store_, "copy", "");
    copy.record.content = (*store_->FindObject(kBucket, ObjectKey("source")))->content;
    ASSERT_TRUE(Remove(*store_, "source").ok());
    ASSERT_TRUE(store_->Put(copy).ok());
    copy = {};
    if (GetParam() != Mode::kMemory) {
      store_.reset();
      store_ = OpenStore(options_);
    }
    EXPECT_EQ(Get(*store_, "copy"), body) << size;
  }
}

TEST_P(ObjectsTest, OverwritingFreesTheOldBytes) {
  if (GetParam() == Mode::kMemory) {
    std::weak_ptr<const Blob> old;
    PutObject put = MakePut(*store_, "key", Body(300'000));
    old = put.record.content.slices[0].blob;
    ASSERT_TRUE(store_->Put(std::move(put)).ok());
    EXPECT_FALSE(old.expired());
    ASSERT_TRUE(PutText(*store_, "key", "small").ok());
    EXPECT_TRUE(old.expired());
    return;
  }
  ASSERT_TRUE(PutText(*store_, "key", Body(300'000)).ok());
  EXPECT_TRUE(WaitForBlobFiles(directory_, 1));
  ASSERT_TRUE(PutText(*store_, "key", Body(300'000, 2)).ok());
  EXPECT_TRUE(WaitForBlobFiles(directory_, 1));
  ASSERT_TRUE(Remove(*store_, "key").ok());
  EXPECT_TRUE(WaitForBlobFiles(directory_, 0));
}

TEST_P(ObjectsTest, ReplacesTags) {
  ASSERT_TRUE(PutText(*store_, "key", "x").ok());
  ASSERT_TRUE(store_->SetTags(kBucket, ObjectKey("key"), std::nullopt, {{"a", "b"}}).ok());
  EXPECT_EQ((*store_->FindObject(kBucket, ObjectKey("key")))->tags, (Attributes{{"a", "b"}}));
  const auto missing = store_->SetTags(kBucket, ObjectKey("absent"), std::nullopt, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, "NoSuchKey");
}

TEST_P(ObjectsTest, MovesVersionsToOtherStorageClasses) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  const VersionId old = (*PutText(*store_, "key", "x")).object->version_id;
  const VersionId current = (*PutText(*store_, "key", "y")).object->version_id;
  const auto refuse = [](const ObjectRecord*) -> Result<void> {
    return Error::Make(ErrorKind::kPreconditionFailed, "refused");
  };
  const auto outcomes = store_->ChangeStorageClass({
      {kBucket, ObjectKey("key"), old, "GLACIER", {}},
      {kBucket, ObjectKey("key"), current, "GLACIER", refuse},
      {kBucket, ObjectKey("absent"), old, "GLACIER", {}},
      {kBucket, ObjectKey("key"), current, "STANDARD_IA", {}},
  });
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_EQ(outcomes[1].error().message, "refused");
  EXPECT_EQ(outcomes[2].error().code, "NoSuchVersion");
  EXPECT_TRUE(outcomes[3].ok());
  EXPECT_EQ((*store_->FindObject(kBucket, ObjectKey("key"), old))->storage_class, "GLACIER");
  EXPECT_EQ((*store_->FindObject(kBucket, ObjectKey("key")))->storage_class, "STANDARD_IA");
  EXPECT_EQ(Get(*store_, "key"), "y");
}

TEST_P(ObjectsTest, SetsAndRemovesOneAttributeOfAVersion) {
  ASSERT_TRUE(PutText(*store_, "key", "x").ok());
  const auto set = [&](std::optional<std::string> value) {
    return store_->SetAttribute(kBucket, ObjectKey("key"), std::nullopt, ":acl", std::move(value));
  };
  const auto attributes = [&] {
    return (*store_->FindObject(kBucket, ObjectKey("key")))->attributes;
  };
  const Attributes before = attributes();
  ASSERT_TRUE(set("one").ok());
  ASSERT_TRUE(set("two").ok());
  Attributes expected = before;
  expected.emplace_back(":acl", "two");
  EXPECT_EQ(attributes(), expected);
  ASSERT_TRUE(set(std::nullopt).ok());
  EXPECT_EQ(attributes(), before);
  EXPECT_EQ(store_->SetAttribute(kBucket, ObjectKey("absent"), std::nullopt, "a", "b").error().code,
            "NoSuchKey");
}

TEST_P(ObjectsTest, AnAttributeChangeSeesTheVersionAndMayFail) {
  ASSERT_TRUE(PutText(*store_, "key", "body").ok());
  const auto change = [&](const AttributeChange& how) {
    return store_->ChangeAttributes(kBucket, ObjectKey("key"), std::nullopt, how);
  };
  const auto before = *store_->FindObject(kBucket, ObjectKey("key"));
  ASSERT_TRUE(change([](const ObjectRecord& object, Attributes& attributes) {
                attributes = {{"size", std::to_string(object.size)}};
                return Ok();
              }).ok());
  const auto after = *store_->FindObject(kBucket, ObjectKey("key"));
  EXPECT_EQ(after->attributes, (Attributes{{"size", "4"}}));
  EXPECT_EQ(after->last_modified, before->last_modified);
  const auto refused = change([](const ObjectRecord&, Attributes& attributes) -> Result<void> {
    attributes.clear();
    return Error::Make(ErrorKind::kAccessDenied, "no");
  });
  EXPECT_EQ(refused.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ((*store_->FindObject(kBucket, ObjectKey("key")))->attributes,
            (Attributes{{"size", "4"}}));
}

TEST_P(ObjectsTest, RejectsContentOfAnotherStore) {
  const auto other = OpenStore({});
  PutObject put = MakePut(*store_, "key", "");
  put.record.content = MakeContent(*other, "foreign");
  const auto refused = store_->Put(put);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::emulator::store
