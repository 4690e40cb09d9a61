#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

StringSink& Sink() {
  static StringSink sink;
  return sink;
}

GetObjectRequest GetObjectOf(std::optional<RangeRequest> range = std::nullopt) {
  return {
      .bucket = BucketName("b"), .key = ObjectKey("dir/a b+c"), .range = range, .sink = &Sink()};
}

Result<ParsedObjectHead> Read(const GetObjectRequest& request, int status,
                              std::vector<http::Header> headers) {
  headers.push_back({"ETag", "\"e\""});  // The first header of a name is used.
  return ReadObjectHead(request, {status, std::move(headers)});
}

TEST(GetObjectTest, RequestsTheWholeObjectAndItsChecksum) {
  EXPECT_EQ(Golden(BuildRequest(GetObjectOf(), Context())),
            "GET /b/dir/a%20b%2Bc\nx-amz-checksum-mode: ENABLED\n\n");
}

TEST(GetObjectTest, SendsRangeConditionVersionAndPayer) {
  GetObjectRequest request = GetObjectOf(RangeRequest{.begin = 5, .end = 10});
  request.if_match = ETag("e1");
  request.version_id = VersionId("v/1");
  BuildContext context = WithoutChecksums();
  context.requester_pays = true;
  EXPECT_EQ(
      Golden(BuildRequest(request, context)),
      "GET /b/dir/a%20b%2Bc?versionId=v%2F1\nx-amz-request-payer: requester\nRange: bytes=5-9\n"
      "If-Match: \"e1\"\n\n");
}

TEST(GetObjectTest, RejectsAmbiguousRequests) {
  GetObjectRequest request = GetObjectOf();
  request.key = ObjectKey("");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "error: the object key is empty; S3 keys have 1 to 1024 bytes");
  request = GetObjectOf(RangeRequest{.begin = 5, .end = 5});
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
  request = GetObjectOf();
  request.sink = nullptr;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(GetObjectTest, ReadsAWholeObject) {
  const auto parsed = Read(GetObjectOf(), 200, {{"Content-Length", "7"}, {"ETag", "\"e1\""}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->metadata.size, 7u);
  EXPECT_EQ(parsed->metadata.etag.value, "e1");
  EXPECT_EQ(parsed->body_length, 7u);
  EXPECT_TRUE(parsed->whole_object);
}

TEST(GetObjectTest, TakesTheSizeOfAPartFromContentRange) {
  const auto parsed = Read(GetObjectOf(RangeRequest{.begin = 5, .end = 10}), 206,
                           {{"Content-Length", "5"}, {"Content-Range", "bytes 5-9/100"}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->metadata.size, 100u);
  EXPECT_EQ(parsed->body_length, 5u);
  EXPECT_FALSE(parsed->whole_object);
}

TEST(GetObjectTest, AcceptsARangeClippedToTheObject) {
  EXPECT_TRUE(Read(GetObjectOf(RangeRequest{.begin = 5, .end = 1000}), 206,
                   {{"Content-Range", "bytes 5-99/100"}})
                  .ok());
  EXPECT_TRUE(
      Read(GetObjectOf(RangeRequest{.suffix = 1000}), 206, {{"Content-Range", "bytes 0-99/100"}})
          .ok());
  EXPECT_TRUE(
      Read(GetObjectOf(RangeRequest{.suffix = 10}), 206, {{"Content-Range", "bytes 90-99/100"}})
          .ok());
}

TEST(GetObjectTest, RejectsARangeThatWasNotRequested) {
  const auto request = GetObjectOf(RangeRequest{.begin = 5, .end = 10});
  for (const char* range : {"bytes 5-8/100", "bytes 4-9/100", "bytes 5-10/100", "bytes 5-9/6",
                            "bytes */100", "5-9/100", "bytes 9-5/100", "bytes 5-9/*"}) {
    const auto parsed = Read(request, 206, {{"Content-Range", range}});
    ASSERT_FALSE(parsed.ok()) << range;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kDataLoss) << range;
  }
  EXPECT_FALSE(Read(request, 206, {}).ok());
  EXPECT_FALSE(Read(GetObjectOf(), 206, {{"Content-Range", "bytes 0-9/100"}}).ok());
}

TEST(GetObjectTest, RejectsAWholeObjectInsteadOfAPart) {
  const auto parsed =
      Read(GetObjectOf(RangeRequest{.begin = 5, .end = 10}), 200, {{"Content-Length", "100"}});
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().kind, ErrorKind::kDataLoss);
}

// rclone's server responds like this. With Content-Length alone, a part of an object would look
// like a shorter object.
TEST(GetObjectTest, AcceptsAPartWithStatus200ByItsContentRange) {
  const auto request = GetObjectOf(RangeRequest{.begin = 0, .end = 10});
  const auto parsed =
      Read(request, 200, {{"Content-Length", "10"}, {"Content-Range", "bytes 0-9/100"}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->metadata.size, 100u);
  EXPECT_EQ(parsed->body_length, 10u);
  EXPECT_FALSE(parsed->whole_object);
  EXPECT_FALSE(
      Read(request, 200, {{"Content-Length", "10"}, {"Content-Range", "bytes 1-10/100"}}).ok());
}

TEST(GetObjectTest, AcceptsAWholeObjectIfTheRangeSelectsIt) {
  EXPECT_TRUE(Read(GetObjectOf(RangeRequest{.begin = 0}), 200, {{"Content-Length", "100"}}).ok());
  EXPECT_TRUE(Read(GetObjectOf(RangeRequest{.suffix = 5}), 200, {{"Content-Length", "0"}}).ok());
}

TEST(GetObjectTest, RejectsAVersionOtherThanIfMatch) {
  GetObjectRequest request = GetObjectOf();
  request.if_match = ETag("e1");
  EXPECT_TRUE(Read(request, 200, {{"Content-Length", "1"}, {"ETag", "\"e1\""}}).ok());
  EXPECT_EQ(Read(request, 200, {{"Content-Length", "1"}, {"ETag", "\"e2\""}}).error().kind,
            ErrorKind::kDataLoss);
}

TEST(GetObjectTest, RejectsContradictoryOrMissingLengths) {
  EXPECT_EQ(Read(GetObjectOf(RangeRequest{.begin = 5, .end = 10}), 206,
                 {{"Content-Length", "4"}, {"Content-Range", "bytes 5-9/100"}})
                .error()
                .kind,
            ErrorKind::kDataLoss);
  EXPECT_EQ(Read(GetObjectOf(), 200, {}).error().kind, ErrorKind::kDataLoss);
}

TEST(GetObjectTest, ParsesMetadataFromTheHeadAlone) {
  const auto metadata = ParseResponse(
      GetObjectOf(),
      ResponseOf("", {{"Content-Length", "3"}, {"ETag", "\"e\""}, {"x-amz-meta-A", "1"}}));
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->size, 3u);
  ASSERT_EQ(metadata->user_metadata.size(), 1u);
  EXPECT_EQ(metadata->user_metadata[0].first, "a");
}

TEST(GetObjectTest, APageOfAWebServerIsNotAnObject) {
  // Symptom: the login page of a network was returned as the object's bytes.
  const auto page = ReadObjectHead(
      GetObjectOf(), {200, {{"Content-Length", "70"}, {"Content-Type", "text/html"}}});
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(ReadObjectHead(GetObjectOf(), {200, {}}).error().kind, ErrorKind::kUnavailable)
      << "the head may be incomplete";
}

const HeadObjectRequest kHeadObject{.bucket = BucketName("b"), .key = ObjectKey("k")};

TEST(HeadObjectTest, RequestsChecksums) {
  EXPECT_EQ(Golden(BuildRequest(kHeadObject, Context())),
            "HEAD /b/k\nx-amz-checksum-mode: ENABLED\n\n");
  EXPECT_EQ(Golden(BuildRequest(kHeadObject, WithoutChecksums())), "HEAD /b/k\n\n");
}

TEST(HeadObjectTest, SendsTheVersion) {
  HeadObjectRequest request = kHeadObject;
  request.version_id = VersionId("v1");
  EXPECT_EQ(Golden(BuildRequest(request, WithoutChecksums())), "HEAD /b/k?versionId=v1\n\n");
}

TEST(HeadObjectTest, TakesTheSizeFromContentLength) {
  const auto metadata =
      ParseResponse(kHeadObject, ResponseOf("", {{"content-length", "123"}, {"etag", "\"e\""}}));
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->size, 123u);
}

TEST(HeadObjectTest, WithoutAnETagThereIsNoObject) {
  EXPECT_EQ(ParseResponse(kHeadObject, ResponseOf("", {{"content-length", "123"}})).error().kind,
            ErrorKind::kUnsupported);
}

TEST(HeadObjectTest, WithoutContentLengthTheSizeIsNotGuessed) {
  EXPECT_EQ(ParseResponse(kHeadObject, ResponseOf("", {{"etag", "\"e\""}})).error().kind,
            ErrorKind::kUnavailable);
}

// The request of botocore 1.44.8 for the same input.
TEST(ReadConditionsTest, SendsConditionsPartAndOverridesAsBotocore) {
  constexpr WallTime kYear2030{std::chrono::seconds(1893801600)};
  HeadObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  request.version_id = VersionId("v");
  request.if_none_match = ETag("e");
  request.if_modified_since = kYear2030;
  request.if_unmodified_since = kYear2030;
  request.part_number = 3;
  request.overrides.Edit().content_type = "t/p";
  request.overrides.Edit().content_disposition = "attachment; filename=\"a b\"";
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "HEAD /b/k?versionId=v&partNumber=3&response-content-type=t%2Fp&"
            "response-content-disposition=attachment%3B%20filename%3D%22a%20b%22\n"
            "If-None-Match: \"e\"\nIf-Modified-Since: Sat, 05 Jan 2030 00:00:00 GMT\n"
            "If-Unmodified-Since: Sat, 05 Jan 2030 00:00:00 GMT\nx-amz-checksum-mode: "
            "ENABLED\n\n");
  request.part_number = 10001;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ReadPartTest, ThePartsRangeComesFromTheResponse) {
  StringSink sink;
  GetObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink};
  request.part_number = 2;
  const http::ResponseHead head{206,
                                {{"ETag", "\"e-2\""},
                                 {"Content-Length", "4"},
                                 {"Content-Range", "bytes 6-9/10"},
                                 {"x-amz-mp-parts-count", "2"},
                                 {"x-amz-checksum-crc64nvme", "of the part"}}};
  const auto parsed = ReadObjectHead(request, head);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->metadata.range, (ByteRange{6, 10}));
  EXPECT_EQ(parsed->metadata.size, 10U);
  EXPECT_EQ(parsed->metadata.parts_count, 2);
  EXPECT_TRUE(parsed->metadata.checksums.empty());
  // A server that ignores the part number.
  const http::ResponseHead whole{200, {{"ETag", "\"e-2\""}, {"Content-Length", "10"}}};
  EXPECT_EQ(ReadObjectHead(request, whole).error().kind, ErrorKind::kDataLoss);
  request.part_number = 1;
  EXPECT_TRUE(ReadObjectHead(request, whole).ok());
  request.range = RangeRequest{0, 1, {}};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ReadPartTest, HeadReturnsTheSizeOfTheWholeObject) {
  HeadObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  request.part_number = 2;
  const auto metadata = ParseResponse(
      request,
      ResponseOf("",
                 {{"ETag", "\"e-2\""}, {"Content-Length", "4"}, {"Content-Range", "bytes 6-9/10"}},
                 206));
  ASSERT_TRUE(metadata.ok()) << metadata.error().message;
  EXPECT_EQ(metadata->size, 10U);
  EXPECT_EQ(metadata->range, (ByteRange{6, 10}));
}

// The response headers of "GetObject" in the Amazon S3 API Reference.
TEST(ReadMetadataTest, ReadsEveryAttribute) {
  const auto metadata = ParseResponse(
      HeadObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k")},
      ResponseOf("", {{"ETag", "\"e\""},
                      {"Content-Length", "10"},
                      {"Cache-Control", "no-cache"},
                      {"Content-Encoding", "gzip"},
                      {"Content-Disposition", "attachment"},
                      {"Content-Language", "de"},
                      {"Expires", "never"},
                      {"x-amz-website-redirect-location", "/other"},
                      {"x-amz-server-side-encryption", "aws:kms"},
                      {"x-amz-server-side-encryption-aws-kms-key-id", "arn:key"},
                      {"x-amz-server-side-encryption-bucket-key-enabled", "true"},
                      {"x-amz-object-lock-mode", "COMPLIANCE"},
                      {"x-amz-object-lock-retain-until-date", "2030-01-05T00:00:00.000Z"},
                      {"x-amz-object-lock-legal-hold", "OFF"},
                      {"x-amz-expiration", "expiry-date=\"x\", rule-id=\"r\""},
                      {"x-amz-replication-status", "REPLICA"},
                      {"x-amz-archive-status", "ARCHIVE_ACCESS"},
                      {"x-amz-tagging-count", "2"},
                      {"x-amz-missing-meta", "1"}}));
  ASSERT_TRUE(metadata.ok()) << metadata.error().message;
  const ObjectDetails& details = *metadata->details;
  EXPECT_EQ(details.cache_control, "no-cache");
  EXPECT_EQ(details.content_encoding, "gzip");
  EXPECT_EQ(details.content_disposition, "attachment");
  EXPECT_EQ(details.content_language, "de");
  EXPECT_EQ(details.expires, "never");
  EXPECT_EQ(details.website_redirect, "/other");
  EXPECT_EQ(metadata->encryption, EncryptionKind::kKms);
  EXPECT_EQ(details.kms_key_id, "arn:key");
  EXPECT_TRUE(details.bucket_key);
  EXPECT_EQ(details.lock.mode, LockMode::kCompliance);
  EXPECT_EQ(details.lock.retain_until, WallTime(std::chrono::seconds(1893801600)));
  EXPECT_EQ(details.lock.legal_hold, false);
  EXPECT_EQ(details.expiration, "expiry-date=\"x\", rule-id=\"r\"");
  EXPECT_EQ(details.replication_status, "REPLICA");
  EXPECT_EQ(details.archive_status, "ARCHIVE_ACCESS");
  EXPECT_EQ(details.tag_count, 2);
  EXPECT_EQ(details.missing_metadata, 1);
}

TEST(ReadMetadataTest, AUsualResponseNeedsNoDetails) {
  const auto metadata =
      ParseResponse(HeadObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k")},
                    ResponseOf("", {{"ETag", "\"e\""},
                                    {"Content-Length", "10"},
                                    {"x-amz-id-2", "i"},
                                    {"x-amz-request-id", "r"},
                                    {"Date", "Sat, 05 Jan 2030 00:00:00 GMT"},
                                    {"Accept-Ranges", "bytes"},
                                    {"Server", "AmazonS3"},
                                    {"x-amz-server-side-encryption", "AES256"}}));
  EXPECT_EQ(metadata->encryption, EncryptionKind::kS3);
  EXPECT_FALSE(metadata->details.has_value());
  EXPECT_EQ(metadata->details->cache_control, "");
}

}  // namespace
}  // namespace penstock::s3
