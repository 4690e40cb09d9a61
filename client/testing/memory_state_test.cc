#include "client/testing/memory_state.h"

#include <gtest/gtest.h>

#include <string>

#include "client/testing/test_bodies.h"

namespace penstock::testing {
namespace {

const BucketName kBucket("b");
const ObjectKey kKey("k");

class MemoryStateTest : public ::testing::Test {
 protected:
  MemoryStateTest() { EXPECT_TRUE(state_.Apply(CreateBucketRequest{kBucket, {}}).ok()); }

  Result<PutObjectResponse> Put(const std::string& content, PutObjectRequest request = {}) {
    TextSource source(content);
    request.bucket = kBucket;
    request.key = kKey;
    request.body = &source;
    return state_.Apply(request);
  }

  Result<std::string> Get(std::optional<RangeRequest> range = {},
                          std::optional<ETag> if_match = {}) {
    TextSink sink;
    GetObjectRequest request;
    request.bucket = kBucket;
    request.key = kKey;
    request.range = range;
    request.if_match = if_match;
    request.sink = &sink;
    PENSTOCK_TRY(state_.Apply(request));
    return sink.text();
  }

  MemoryState state_{MemoryObjectStoreOptions{}};
};

TEST_F(MemoryStateTest, ETagOfASinglePutIsItsMd5) {
  const auto put = Put("hello world");
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->etag.value, "5eb63bbbe01eeed093cb22bb8f5acdc3");  // md5sum
}

TEST_F(MemoryStateTest, ReturnsWhatWasPut) {
  ASSERT_TRUE(Put("hello").ok());
  EXPECT_EQ(Get().value(), "hello");
}

TEST_F(MemoryStateTest, ClipsARangeToTheObject) {
  ASSERT_TRUE(Put("hello").ok());
  EXPECT_EQ(Get(RangeRequest{3, 100, {}}).value(), "lo");
}

TEST_F(MemoryStateTest, SuffixLongerThanTheObjectIsTheWholeObject) {
  ASSERT_TRUE(Put("hello").ok());
  EXPECT_EQ(Get(RangeRequest{{}, {}, 2}).value(), "lo");
  EXPECT_EQ(Get(RangeRequest{{}, {}, 99}).value(), "hello");
}

TEST_F(MemoryStateTest, ARangeBeyondTheEndIsInvalidRangeWithTheActualSize) {
  ASSERT_TRUE(Put("hello").ok());
  const auto got = Get(RangeRequest{5, 6, {}});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, "InvalidRange");
  EXPECT_EQ(got.error().http_status, 416);
  ASSERT_EQ(got.error().details.size(), 1u);
  EXPECT_EQ(got.error().details[0].second, "5");
}

TEST_F(MemoryStateTest, AnyRangeOfAnEmptyObjectIsInvalid) {
  ASSERT_TRUE(Put("").ok());
  EXPECT_EQ(Get(RangeRequest{0, {}, {}}).error().code, "InvalidRange");
  EXPECT_EQ(Get().value(), "");
}

TEST_F(MemoryStateTest, IfMatchRejectsAnotherVersion) {
  const auto put = Put("hello");
  ASSERT_TRUE(put.ok());
  EXPECT_TRUE(Get({}, put->etag).ok());
  EXPECT_EQ(Get({}, ETag("other")).error().kind, ErrorKind::kPreconditionFailed);
}

TEST_F(MemoryStateTest, IfNoneMatchProtectsAnExistingObject) {
  PutObjectRequest only_new;
  only_new.if_none_match_any = true;
  ASSERT_TRUE(Put("first", only_new).ok());
  EXPECT_EQ(Put("second", only_new).error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Get().value(), "first");
}

TEST_F(MemoryStateTest, AConditionalPutNeedsTheObject) {
  PutObjectRequest conditional;
  conditional.if_match = ETag("x");
  EXPECT_EQ(Put("a", conditional).error().code, "NoSuchKey");
}

TEST_F(MemoryStateTest, DistinguishesMissingBucketAndMissingKey) {
  EXPECT_EQ(Get().error().code, "NoSuchKey");
  HeadObjectRequest head;
  head.bucket = BucketName("nowhere");
  head.key = kKey;
  EXPECT_EQ(state_.Apply(head).error().code, "NoSuchBucket");
}

TEST_F(MemoryStateTest, DeletingAnAbsentKeySucceeds) {
  DeleteObjectRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  EXPECT_TRUE(state_.Apply(request).ok());
}

TEST_F(MemoryStateTest, DeletesOnlyTheObjectWithThatETag) {
  const auto written = Put("x");
  ASSERT_TRUE(written.ok());
  DeleteObjectRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.if_match = ETag("another");
  EXPECT_EQ(state_.Apply(request).error().kind, ErrorKind::kPreconditionFailed);
  request.if_match = written->etag;
  EXPECT_TRUE(state_.Apply(request).ok());
  EXPECT_EQ(Get().error().code, "NoSuchKey");
  EXPECT_TRUE(state_.Apply(request).ok()) << "deleting an absent key succeeds";
}

TEST_F(MemoryStateTest, DeleteObjectsAcceptsAThousandKeys) {
  ASSERT_TRUE(Put("x").ok());
  DeleteObjectsRequest request;
  request.bucket = kBucket;
  request.keys.assign(1001, kKey);
  EXPECT_EQ(state_.Apply(request).error().code, "MalformedXML");
  request.keys.resize(1000);
  EXPECT_TRUE(state_.Apply(request).ok());
  EXPECT_FALSE(Get().ok());
}

TEST_F(MemoryStateTest, CopyKeepsContentAndMetadata) {
  PutObjectRequest put;
  put.attributes.content_type = "text/plain";
  ASSERT_TRUE(Put("hello", put).ok());
  CopyObjectRequest copy;
  copy.source_bucket = copy.bucket = kBucket;
  copy.source_key = kKey;
  copy.key = ObjectKey("copy");
  ASSERT_TRUE(state_.Apply(copy).ok());
  HeadObjectRequest head;
  head.bucket = kBucket;
  head.key = ObjectKey("copy");
  const auto metadata = state_.Apply(head);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->content_type, "text/plain");
  EXPECT_EQ(metadata->size, 5u);
}

TEST_F(MemoryStateTest, ReadsHaveConditionsAndPartNumbers) {
  const ETag etag = Put("hello")->etag;
  HeadObjectRequest head{kBucket, kKey};
  head.if_none_match = etag;
  EXPECT_EQ(state_.Apply(head).error().kind, ErrorKind::kNotModified);
  head.if_none_match = ETag("other");
  EXPECT_TRUE(state_.Apply(head).ok());
  head.if_match = ETag("other");
  EXPECT_EQ(state_.Apply(head).error().kind, ErrorKind::kPreconditionFailed);
  head = {kBucket, kKey};
  head.if_unmodified_since = WallTime(std::chrono::seconds(1));
  EXPECT_EQ(state_.Apply(head).error().kind, ErrorKind::kPreconditionFailed);
  // If-Match decides before If-Unmodified-Since.
  head.if_match = etag;
  EXPECT_TRUE(state_.Apply(head).ok());
  head = {kBucket, kKey};
  head.part_number = 2;
  EXPECT_EQ(state_.Apply(head).error().code, "InvalidPartNumber");
}

TEST_F(MemoryStateTest, CopiesReplaceAttributesIfAsked) {
  PutObjectRequest put;
  put.attributes.cache_control = "no-cache";
  ASSERT_TRUE(Put("hello", put).ok());
  CopyObjectRequest copy{kBucket, kKey, kBucket, ObjectKey("copy")};
  copy.metadata_directive = CopyDirective::kReplace;
  copy.attributes.content_language = "de";
  ASSERT_TRUE(state_.Apply(copy).ok());
  EXPECT_EQ(state_.Apply(HeadObjectRequest{kBucket, kKey})->details->cache_control, "no-cache");
  const auto copied = state_.Apply(HeadObjectRequest{kBucket, ObjectKey("copy")});
  EXPECT_EQ(copied->details->cache_control, "");
  EXPECT_EQ(copied->details->content_language, "de");
}

TEST_F(MemoryStateTest, DeleteObjectsChecksConditionsAndListsWhatItDeleted) {
  ASSERT_TRUE(Put("x").ok());
  DeleteObjectsRequest request{.bucket = kBucket, .keys = {ObjectKey("absent")}};
  request.objects = {{.key = kKey, .if_match = ETag("other")}};
  request.list_deleted = true;
  const auto response = state_.Apply(request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->deleted.size(), 1u);
  ASSERT_EQ(response->failures.size(), 1u);
  EXPECT_EQ(response->failures[0].code, "PreconditionFailed");
  EXPECT_TRUE(Get().ok());
}

TEST_F(MemoryStateTest, AnObjectIsItsOnlyVersion) {
  ASSERT_TRUE(Put("hello").ok());
  const VersionId null_version("null");
  const VersionId other("other");
  EXPECT_EQ(state_.Apply(HeadObjectRequest{kBucket, kKey, null_version, {}})->size, 5u);
  EXPECT_EQ(state_.Apply(HeadObjectRequest{kBucket, kKey, other, {}}).error().code,
            "NoSuchVersion");
  CopyObjectRequest copy{kBucket, kKey, kBucket, ObjectKey("copy")};
  copy.source_version_id = other;
  EXPECT_EQ(state_.Apply(copy).error().code, "NoSuchVersion");
  copy.source_version_id = null_version;
  EXPECT_TRUE(state_.Apply(copy).ok());
  EXPECT_TRUE(state_.Apply(DeleteObjectRequest{kBucket, kKey, other, {}, {}}).ok());
  EXPECT_TRUE(Get().ok());
  EXPECT_TRUE(state_.Apply(DeleteObjectRequest{kBucket, kKey, null_version, {}, {}}).ok());
  EXPECT_EQ(Get().error().code, "NoSuchKey");
}

TEST_F(MemoryStateTest, ABucketWithObjectsIsNotDeleted) {
  ASSERT_TRUE(Put("x").ok());
  DeleteBucketRequest request;
  request.bucket = kBucket;
  EXPECT_EQ(state_.Apply(request).error().code, "BucketNotEmpty");
}

TEST_F(MemoryStateTest, ABucketIsCreatedOnce) {
  EXPECT_EQ(state_.Apply(CreateBucketRequest{kBucket, {}}).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(state_.Apply(ListBucketsRequest{}).value().buckets.size(), 1u);
}

TEST_F(MemoryStateTest, AShortBodyStoresNothing) {
  TextSource source("abc", 5);
  PutObjectRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.body = &source;
  EXPECT_EQ(state_.Apply(request).error().code, "IncompleteBody");
  EXPECT_FALSE(Get().ok());
}

TEST_F(MemoryStateTest, CancelledAndExpiredCallsEnd) {
  std::stop_source stop;
  CallOptions call;
  call.cancel = stop.get_token();
  EXPECT_TRUE(state_.CheckAlive(call).ok());
  stop.request_stop();
  EXPECT_EQ(state_.CheckAlive(call).error().kind, ErrorKind::kCancelled);
  call = {};
  call.deadline = Deadline::After(SystemClock(), std::chrono::nanoseconds(0));
  EXPECT_EQ(state_.CheckAlive(call).error().kind, ErrorKind::kTimeout);
}

}  // namespace
}  // namespace penstock::testing
