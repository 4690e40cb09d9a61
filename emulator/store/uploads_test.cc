// Multipart methods, in both modes.
#include <gtest/gtest.h>

#include <set>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

const ObjectKey kKey("key");

class UploadsTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) options_.directory = directory_.path();
    store_ = OpenStore(options_);
    ASSERT_NE(store_, nullptr);
    MakeBucket(*store_);
  }
  UploadId Create(const std::string& key = "key") {
    UploadRecord upload;
    upload.bucket = kBucket;
    upload.key = ObjectKey(key);
    upload.owner_id = "owner";
    upload.attributes = {{"content-type", "text/plain"}};
    auto created = store_->CreateUpload(upload);
    EXPECT_TRUE(created.ok());
    return (*created)->id;
  }
  Result<void> PutPartOf(const UploadId& id, int number, std::string_view body,
                         const std::string& etag = "") {
    PutPart part;
    part.bucket = kBucket;
    part.key = kKey;
    part.upload_id = id;
    part.part.number = number;
    part.part.size = body.size();
    part.part.etag = ETag(etag.empty() ? "part-" + std::to_string(number) : etag);
    part.content = MakeContent(*store_, body);
    return store_->Put(std::move(part));
  }
  Result<PutOutcome> Complete(const UploadId& id, const std::vector<int>& numbers) {
    CompleteUpload complete;
    complete.bucket = kBucket;
    complete.key = kKey;
    complete.upload_id = id;
    complete.record.etag = ETag("whole-2");
    for (const int number : numbers)
      complete.parts.push_back({number, ETag("part-" + std::to_string(number))});
    return store_->Complete(std::move(complete));
  }
  UploadPage List(ListUploads query) {
    query.bucket = kBucket;
    auto page = store_->List(query);
    EXPECT_TRUE(page.ok());
    return std::move(page).value();
  }

  TemporaryDirectory directory_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Modes, UploadsTest, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Directory" : "Memory"; });

TEST_P(UploadsTest, JoinsTheListedPartsInOrder) {
  const UploadId id = Create();
  const std::string first = Body(100'000, 1);
  const std::string third = Body(50, 3);
  ASSERT_TRUE(PutPartOf(id, 3, third).ok());
  ASSERT_TRUE(PutPartOf(id, 1, first).ok());
  ASSERT_TRUE(PutPartOf(id, 2, "unlisted").ok());
  const auto done = Complete(id, {1, 3});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->object->size, first.size() + third.size());
  ASSERT_EQ(done->object->parts.size(), 2u);
  EXPECT_EQ(done->object->parts[1].number, 3);
  EXPECT_EQ(Text(done->object->content), first + third);
  if (GetParam()) {
    store_.reset();
    store_ = OpenStore(options_);
  }
  EXPECT_EQ(Get(*store_, "key"), first + third);
  EXPECT_EQ(store_->FindUpload(kBucket, kKey, id).error().code, "NoSuchUpload");
}

TEST_P(UploadsTest, RecordsTheResultOfACompletedUpload) {
  const UploadId id = Create();
  EXPECT_EQ(store_->FindCompleted(kBucket, kKey, id).error().code, "NoSuchUpload");
  ASSERT_TRUE(PutPartOf(id, 1, "x").ok());
  ASSERT_TRUE(Complete(id, {1}).ok());
  const auto completed = store_->FindCompleted(kBucket, kKey, id);
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ((*completed)->etag.value, "whole-2");
  EXPECT_EQ((*completed)->parts.size(), 1u);
  EXPECT_EQ(store_->FindCompleted(kBucket, ObjectKey("other"), id).error().code, "NoSuchUpload");
}

TEST_P(UploadsTest, RejectsUnknownAndUnorderedParts) {
  const UploadId id = Create();
  ASSERT_TRUE(PutPartOf(id, 1, "x").ok());
  ASSERT_TRUE(PutPartOf(id, 2, "y").ok());
  EXPECT_EQ(Complete(id, {1, 3}).error().code, "InvalidPart");
  EXPECT_EQ(Complete(id, {2, 1}).error().code, "InvalidPartOrder");
  EXPECT_EQ(Complete(id, {1, 1}).error().code, "InvalidPartOrder");
  EXPECT_EQ(Complete(UploadId("unknown"), {1}).error().code, "NoSuchUpload");
  EXPECT_TRUE(Complete(id, {1, 2}).ok());
}

// Regression: a part that was replaced between ListParts and Complete was joined with the ETag,
// checksum and size of the previous one.
TEST_P(UploadsTest, RejectsAPartThatWasReplacedAfterTheListing) {
  const UploadId id = Create();
  ASSERT_TRUE(PutPartOf(id, 1, "x").ok());
  ASSERT_TRUE(PutPartOf(id, 2, "y").ok());
  const auto listed = store_->ListParts(kBucket, kKey, id, 0, 10);
  ASSERT_TRUE(listed.ok());
  CompleteUpload complete;
  complete.bucket = kBucket;
  complete.key = kKey;
  complete.upload_id = id;
  for (const StoredPart& stored : *listed)
    complete.parts.push_back({stored.part.number, stored.part.etag});
  ASSERT_TRUE(PutPartOf(id, 2, "other", "other").ok());
  EXPECT_EQ(store_->Complete(complete).error().code, "InvalidPart");
  EXPECT_EQ(store_->FindObject(kBucket, kKey).error().code, "NoSuchKey");
  EXPECT_TRUE(store_->FindUpload(kBucket, kKey, id).ok());
  complete.parts[1].etag = ETag("other");
  ASSERT_TRUE(store_->Complete(complete).ok());
  EXPECT_EQ(Get(*store_, "key"), "xother");
}

TEST_P(UploadsTest, ListsPartsAfterTheMarker) {
  const UploadId id = Create();
  for (const int number : {5, 1, 10000})
    ASSERT_TRUE(PutPartOf(id, number, std::to_string(number)).ok());
  const auto parts = store_->ListParts(kBucket, kKey, id, 1, 1);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ((*parts)[0].part.number, 5);
  EXPECT_EQ(Text((*parts)[0].content), "5");
  EXPECT_NE((*parts)[0].part.last_modified, WallTime{});
  EXPECT_EQ(store_->ListParts(kBucket, kKey, id, 0, 1000)->size(), 3u);
}

TEST_P(UploadsTest, APartReplacesThePartWithTheSameNumber) {
  const UploadId id = Create();
  ASSERT_TRUE(PutPartOf(id, 1, Body(100'000, 1)).ok());
  ASSERT_TRUE(PutPartOf(id, 1, Body(100'000, 2)).ok());
  if (GetParam()) {
    EXPECT_TRUE(WaitForBlobFiles(directory_, 1));
  }
  ASSERT_TRUE(Complete(id, {1}).ok());
  EXPECT_EQ(Get(*store_, "key"), Body(100'000, 2));
}

TEST_P(UploadsTest, AbortingFreesTheParts) {
  const UploadId id = Create();
  ASSERT_TRUE(PutPartOf(id, 1, Body(100'000)).ok());
  ASSERT_TRUE(store_->AbortUpload(kBucket, kKey, id).ok());
  EXPECT_EQ(store_->AbortUpload(kBucket, kKey, id).error().code, "NoSuchUpload");
  EXPECT_EQ(PutPartOf(id, 2, Body(100'000)).error().code, "NoSuchUpload");
  if (GetParam()) {
    EXPECT_TRUE(WaitForBlobFiles(directory_, 0));
  }
}

TEST_P(UploadsTest, AnUploadBelongsToItsKey) {
  const UploadId id = Create("other");
  EXPECT_EQ(PutPartOf(id, 1, "x").error().code, "NoSuchUpload");
}

TEST_P(UploadsTest, ListsUploadsByKeyThenCreation) {
  const UploadId b1 = Create("b");
  const UploadId a = Create("a");
  const UploadId b2 = Create("b");
  UploadPage page = List({.max_uploads = 2});
  ASSERT_EQ(page.entries.size(), 2u);
  EXPECT_EQ(page.entries[0].upload->id, a);
  EXPECT_EQ(page.entries[1].upload->id, b1);
  EXPECT_EQ(page.entries[1].upload->attributes, (Attributes{{"content-type", "text/plain"}}));
  EXPECT_TRUE(page.truncated);
  page = List({.key_marker = "b", .upload_id_marker = b1.value});
  ASSERT_EQ(page.entries.size(), 1u);
  EXPECT_EQ(page.entries[0].upload->id, b2);
  EXPECT_TRUE(List({.key_marker = "b"}).entries.empty());
  // The upload id marker is ignored without a key marker.
  EXPECT_EQ(List({.upload_id_marker = b1.value}).entries.size(), 3u);
}

// Recorded against Amazon S3, which accepts the id of an aborted upload as a marker (minio issue
// 1805).
TEST_P(UploadsTest, ResumesAfterAnAbortedUpload) {
  const UploadId first = Create("b");
  const UploadId second = Create("b");
  const UploadId third = Create("b");
  const UploadId c = Create("c");
  ASSERT_TRUE(store_->AbortUpload(kBucket, ObjectKey("b"), second).ok());
  UploadPage page = List({.key_marker = "b", .upload_id_marker = second.value});
  ASSERT_EQ(page.entries.size(), 2u);
  EXPECT_EQ(page.entries[0].upload->id, third);
  EXPECT_EQ(page.entries[1].upload->id, c);
  ASSERT_TRUE(store_->AbortUpload(kBucket, ObjectKey("b"), first).ok());
  page = List({.key_marker = "b", .upload_id_marker = first.value, .max_uploads = 1});
  ASSERT_EQ(page.entries.size(), 1u);
  EXPECT_EQ(page.entries[0].upload->id, third);
}

TEST_P(UploadsTest, GroupsUploadsByCommonPrefix) {
  Create("d/1");
  Create("d/2");
  Create("e");
  const UploadPage page = List({.delimiter = "/"});
  ASSERT_EQ(page.entries.size(), 2u);
  EXPECT_EQ(page.entries[0].common_prefix, "d/");
  EXPECT_EQ(page.entries[1].upload->key.value, "e");
}

TEST_P(UploadsTest, RejectsAnUploadMarkerOfAnotherKey) {
  const UploadId a = Create("a");
  ListUploads query;
  query.bucket = kBucket;
  query.key_marker = "b";
  query.upload_id_marker = a.value;
  EXPECT_EQ(store_->List(query).error().code, "InvalidArgument");
}

TEST_P(UploadsTest, DoNotBlockDeletingTheBucket) {
  const UploadId id = Create();
  ASSERT_TRUE(PutPartOf(id, 1, Body(100'000)).ok());
  ASSERT_TRUE(store_->DeleteBucket(kBucket).ok());
  if (GetParam()) {
    EXPECT_TRUE(WaitForBlobFiles(directory_, 0));
  }
  MakeBucket(*store_);
  EXPECT_EQ(store_->FindUpload(kBucket, kKey, id).error().code, "NoSuchUpload");
}

}  // namespace
}  // namespace penstock::emulator::store
