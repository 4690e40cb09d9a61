#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/s3/client_for_test.h"
#include "penstock/base/blocking.h"
#include "penstock/client.h"

namespace penstock::s3 {
namespace {

const BucketName kBucket("bucket");
const ObjectKey kKey("key");

std::string LastSent(const ClientUnderTest& test) {
  const http::Request request = test.transport.requests().back().request;
  return request.method + " " + request.target;
}

TEST(NamedOperationsTest, ObjectsAsStrings) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  EXPECT_EQ(test.client->PutObject(kBucket, kKey, "some text")->etag.value, "e");
  EXPECT_EQ(LastSent(test), "PUT /bucket/key");
  EXPECT_EQ(test.transport.requests().back().body, "some text");
  test.transport.Expect(Object("some text"));
  const auto read = test.client->GetObject(kBucket, kKey);
  EXPECT_EQ(read->body, "some text");
  EXPECT_EQ(read->metadata.size, 9u);
}

TEST(NamedOperationsTest, RequestsWithOptionsSinksAndOwnedBodies) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  const auto read = test.client->GetObject({.bucket = kBucket, .key = kKey, .sink = &test.sink});
  EXPECT_EQ(read->body, "");
  EXPECT_EQ(test.sink.text, "abc");
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  EXPECT_TRUE(
      test.client
          ->PutObject(
              {.bucket = kBucket, .key = kKey, .attributes = {.content_type = "text/plain"}},
              "text")
          .ok());
  EXPECT_EQ(test.Header(1, "Content-Type"), "text/plain");
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  EXPECT_TRUE(
      test.client
          ->UploadPart(
              {.bucket = kBucket, .key = kKey, .upload_id = UploadId("u"), .part_number = 1},
              std::string("part"))
          .ok());
  EXPECT_EQ(test.transport.requests().back().body, "part");
}

TEST(NamedOperationsTest, RetriesSendTheOwnedBodyAgain) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  auto put = test.client->PutObjectAsync(kBucket, kKey, std::string("twice"));
  EXPECT_TRUE(put.Get().ok());
  EXPECT_EQ(test.sent(), 2u);
  EXPECT_EQ(test.transport.requests().back().body, "twice");
}

Pending<std::string> CopyByHand(Client& client) {
  const auto read = co_await client.GetObjectAsync(kBucket, kKey);
  if (!read.ok()) co_return read.error();
  const auto written = co_await client.PutObjectAsync(kBucket, ObjectKey("copy"), read->body);
  if (!written.ok()) co_return written.error();
  co_return written->etag.value;
}

TEST(NamedOperationsTest, CoroutineReadsAndWrites) {
  ClientUnderTest test;
  test.transport.Expect(Object("text"));
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"new\""}}));
  EXPECT_EQ(CopyByHand(*test.client).Get().value(), "new");
  EXPECT_EQ(LastSent(test), "PUT /bucket/copy");
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  EXPECT_EQ(CopyByHand(*test.client).Get().error().kind, ErrorKind::kNotFound);
}

TEST(NamedOperationsTest, DroppedPendingOwnsItsMemoryUntilTheCallHasEnded) {
  ClientUnderTest test;
  test.transport.Hold();
  {
    const auto dropped = test.client->GetObjectAsync(kBucket, kKey);
    EXPECT_FALSE(dropped.ready());
  }
  { const auto dropped = test.client->PutObjectAsync(kBucket, kKey, std::string(1000, 'x')); }
  test.transport.Expect(Object("late"));
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  test.transport.Release(2);
  EXPECT_EQ(test.sent(), 2u);
}

TEST(NamedOperationsTest, BlockingFormFailsInACallback) {
  ClientUnderTest test;
  const IoThreadScope io_thread;
  for (const Error& error : {test.client->GetObject(kBucket, kKey).error(),
                             test.client->PutObject(kBucket, kKey, "x").error(),
                             test.client->HeadObject({.bucket = kBucket, .key = kKey}).error()}) {
    EXPECT_EQ(error.kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(error.message.find("was called on an I/O thread"), std::string::npos);
  }
  EXPECT_EQ(test.sent(), 0u);
}

// Every operation in both forms reaches its own request.
TEST(NamedOperationsTest, EveryOperationSendsItsRequest) {
  ClientUnderTest test;
  Client& client = *test.client;
  const UploadId upload("u");
  const auto expect = [&](const char* sent, auto form) {
    const std::size_t before = test.sent();
    test.transport.Expect(Refuse(403, "AccessDenied"));
    EXPECT_FALSE(form().ok()) << sent;
    ASSERT_EQ(test.sent(), before + 1) << sent;
    EXPECT_EQ(LastSent(test).substr(0, std::string_view(sent).size()), sent);
  };
#define EXPECT_SENT(sent, NAME, ...)                                    \
  expect(sent, [&] { return client.NAME(NAME##Request __VA_ARGS__); }); \
  expect(sent, [&] { return client.NAME##Async(NAME##Request __VA_ARGS__).Get(); })
  EXPECT_SENT("GET /bucket/key", GetObject, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("HEAD /bucket/key", HeadObject, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("DELETE /bucket/key", DeleteObject, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("POST /bucket?delete=", DeleteObjects, {.bucket = kBucket, .keys = {kKey}});
  EXPECT_SENT("PUT /bucket/copy", CopyObject, {kBucket, kKey, kBucket, ObjectKey("copy")});
  EXPECT_SENT("GET /bucket?list-type=2", ListObjects, {.bucket = kBucket});
  EXPECT_SENT("GET /bucket?versions=", ListObjectVersions, {.bucket = kBucket});
  EXPECT_SENT("POST /bucket/key?uploads=", CreateMultipartUpload, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("PUT /bucket/key?partNumber=1", UploadPartCopy,
              {.source_bucket = kBucket,
               .source_key = kKey,
               .bucket = kBucket,
               .key = kKey,
               .upload_id = upload,
               .part_number = 1});
  EXPECT_SENT("POST /bucket/key?uploadId=u", CompleteMultipartUpload,
              {.bucket = kBucket, .key = kKey, .upload_id = upload, .parts = {{1, ETag("e")}}});
  EXPECT_SENT("DELETE /bucket/key?uploadId=u", AbortMultipartUpload,
              {.bucket = kBucket, .key = kKey, .upload_id = upload});
  EXPECT_SENT("GET /bucket/key?uploadId=u", ListParts,
              {.bucket = kBucket, .key = kKey, .upload_id = upload});
  EXPECT_SENT("GET /bucket?uploads=", ListMultipartUploads, {.bucket = kBucket});
  EXPECT_SENT("PUT /bucket", CreateBucket, {.bucket = kBucket});
  EXPECT_SENT("HEAD /bucket", HeadBucket, {.bucket = kBucket});
  EXPECT_SENT("DELETE /bucket", DeleteBucket, {.bucket = kBucket});
  EXPECT_SENT("GET /", ListBuckets, {});
  EXPECT_SENT("GET /bucket?versioning=", GetBucketConfiguration, {.bucket = kBucket});
  EXPECT_SENT("PUT /bucket?versioning=", PutBucketConfiguration,
              {.bucket = kBucket, .document = "<VersioningConfiguration/>"});
  EXPECT_SENT("DELETE /bucket?tagging=", DeleteBucketConfiguration, {.bucket = kBucket});
  EXPECT_SENT("GET /bucket?versioning=", GetBucketVersioning, {.bucket = kBucket});
  EXPECT_SENT("PUT /bucket?versioning=", PutBucketVersioning, {.bucket = kBucket});
  EXPECT_SENT("GET /bucket?tagging=", GetBucketTagging, {.bucket = kBucket});
  EXPECT_SENT("PUT /bucket?tagging=", PutBucketTagging, {.bucket = kBucket});
  EXPECT_SENT("GET /bucket/key?tagging=", GetObjectTagging, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("PUT /bucket/key?tagging=", PutObjectTagging, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("DELETE /bucket/key?tagging=", DeleteObjectTagging, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("GET /bucket/key?acl=", GetObjectConfiguration, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("PUT /bucket/key?acl=", PutObjectConfiguration,
              {.bucket = kBucket, .key = kKey, .canned_acl = "private"});
  EXPECT_SENT("POST /bucket/key?restore=", RestoreObject, {.bucket = kBucket, .key = kKey});
  EXPECT_SENT("GET /bucket/key?attributes=", GetObjectAttributes, {.bucket = kBucket, .key = kKey});
  expect("GET /bucket?tagging=", [&] {  // of a request that only Client has
    return client.CallAsync(GetBucketTaggingRequest{.bucket = kBucket}).Get();
  });
#undef EXPECT_SENT
}

}  // namespace
}  // namespace penstock::s3
