#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "base/dates.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

PutObjectRequest PutObjectOf(BodySource& body) {
  return {.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
}

TEST(PutObjectTest, SendsTheChecksumOfTheBodyAndRewindsIt) {
  StringSource body("123456789");
  const auto wire = BuildRequest(PutObjectOf(body), Context());
  // CRC-64/NVME of "123456789" is ae8b14860a799888.
  EXPECT_EQ(Golden(wire), "PUT /b/k\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(wire->source, &body);
  EXPECT_EQ(AsText(body.Next(3)), "123");
}

TEST(PutObjectTest, OfALockedObjectNamesTheAlgorithmOfItsChecksum) {
  StringSource body("123456789");
  PutObjectRequest request = PutObjectOf(body);
  request.attributes.lock.legal_hold = true;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k\nx-amz-object-lock-legal-hold: ON\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n"
            "x-amz-sdk-checksum-algorithm: CRC64NVME\n\n");
  request.checksum_algorithm = "sha1";
  EXPECT_EQ(*BuildRequest(request, Context())->FindHeader("x-amz-sdk-checksum-algorithm"), "SHA1");
}

TEST(PutObjectTest, SendsAttributesAndConditions) {
  StringSource body("x");
  PutObjectRequest request = PutObjectOf(body);
  request.attributes = {.content_type = "text/plain",
                        .storage_class = "GLACIER_IR",
                        .user_metadata = {{"Owner", "me"}}};
  request.if_none_match_any = true;
  EXPECT_EQ(
      Golden(BuildRequest(request, WithoutChecksums())),
      "PUT /b/k\nContent-Type: text/plain\nx-amz-storage-class: GLACIER_IR\nx-amz-meta-owner: me\n"
      "If-None-Match: *\n\n");
  request.attributes = {};
  request.if_none_match_any = false;
  request.if_match = ETag("e");
  EXPECT_EQ(Golden(BuildRequest(request, WithoutChecksums())), "PUT /b/k\nIf-Match: \"e\"\n\n");
}

TEST(PutObjectTest, SendsAKnownChecksumAndComputesAFollowedOne) {
  StringSource body("123456789");
  body.follows_checksum = true;
  EXPECT_EQ(Golden(BuildRequest(PutObjectOf(body), Context())),
            "PUT /b/k\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  body.rewinds = 0;
  body.known_crc64nvme = 1;
  EXPECT_EQ(Golden(BuildRequest(PutObjectOf(body), Context())),
            "PUT /b/k\nx-amz-checksum-crc64nvme: AAAAAAAAAAE=\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(PutObjectTest, AppendsAtAnOffsetWithTheObjectsChecksumAlgorithm) {
  StringSource body("123456789");
  PutObjectRequest request = PutObjectOf(body);
  request.bucket = BucketName("b--usw2-az1--x-s3");
  request.write_offset = 7;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b--usw2-az1--x-s3/k\nx-amz-write-offset-bytes: 7\nx-amz-checksum-crc64nvme: "
            "rosUhgp5mIg=\n\n");
  // CRC-32C of "123456789" is e3069283, its CRC-32 is cbf43926.
  request.checksum_algorithm = "crc32c";
  EXPECT_NE(Golden(BuildRequest(request, Context())).find("\nx-amz-checksum-crc32c: 4waSgw==\n\n"),
            std::string::npos);
  request.checksum_algorithm = "crc32";
  EXPECT_NE(Golden(BuildRequest(request, Context())).find("\nx-amz-checksum-crc32: y/Q5Jg==\n\n"),
            std::string::npos);
  request.checksum_algorithm = "none";
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b--usw2-az1--x-s3/k\nx-amz-write-offset-bytes: 7\n\n");
}

TEST(PutObjectTest, AppendsInDirectoryBucketsOnly) {
  StringSource body("x");
  PutObjectRequest request = PutObjectOf(body);
  request.write_offset = 0;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kUnsupported);
}

TEST(PutObjectTest, AnAppendReturnsTheSizeOfTheObject) {
  StringSource body("x");
  const auto response = ParseResponse(
      PutObjectOf(body), ResponseOf("", {{"ETag", "\"e\""}, {"x-amz-object-size", "12"}}));
  EXPECT_EQ(response->object_size, 12u);
  EXPECT_EQ(ParseResponse(PutObjectOf(body), ResponseOf("", {{"ETag", "\"e\""}}))->object_size,
            std::nullopt);
}

TEST(PutObjectTest, RejectsBothConditionsTogether) {
  StringSource body("x");
  PutObjectRequest request = PutObjectOf(body);
  request.if_match = ETag("e");
  request.if_none_match_any = true;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(PutObjectTest, RejectsABodyWhoseSizeIsWrong) {
  StringSource body("12345");
  body.claimed_size = 6;
  EXPECT_EQ(Golden(BuildRequest(PutObjectOf(body), Context())),
            "error: the body source returned 5 bytes, but its size() is 6");
}

TEST(PutObjectTest, RejectsMetadataThatIsInvalidInAHeader) {
  StringSource body("x");
  PutObjectRequest request = PutObjectOf(body);
  request.attributes.user_metadata = {{"a", "line\nbreak"}};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
  request.attributes.user_metadata = {{"bad name", "v"}};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
  request.attributes.user_metadata = {{"a", std::string(2048, 'x')}};
  EXPECT_NE(BuildRequest(request, Context()).error().message.find("2049"), std::string::npos);
}

TEST(PutObjectTest, WithoutAnETagNothingWasStored) {
  // Symptom: the 200 of a proxy's page was treated as a stored object.
  StringSource body("x");
  EXPECT_EQ(ParseResponse(PutObjectOf(body), ResponseOf("<html>", {{"Content-Length", "6"}}))
                .error()
                .kind,
            ErrorKind::kUnsupported);
}

TEST(PutObjectTest, ReadsETagAndVersion) {
  StringSource body("x");
  const auto response = ParseResponse(
      PutObjectOf(body), ResponseOf("", {{"ETag", "\"e1\""}, {"x-amz-version-id", "v1"}}));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->etag.value, "e1");
  EXPECT_EQ(response->version_id.value, "v1");
}

const CopyObjectRequest kCopyObject{.source_bucket = BucketName("src"),
                                    .source_key = ObjectKey("a b/ü+1"),
                                    .bucket = BucketName("b"),
                                    .key = ObjectKey("k")};

TEST(CopyObjectTest, EncodesTheSource) {
  EXPECT_EQ(Golden(BuildRequest(kCopyObject, Context())),
            "PUT /b/k\nx-amz-copy-source: src/a%20b/%C3%BC%2B1\n\n");
}

TEST(CopyObjectTest, SendsTheSourceCondition) {
  CopyObjectRequest request = kCopyObject;
  request.source_key = ObjectKey("s");
  request.source_if_match = ETag("e");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k\nx-amz-copy-source: src/s\nx-amz-copy-source-if-match: \"e\"\n\n");
}

TEST(CopyObjectTest, SendsTheSourceVersionAndReadsTheVersionOfTheCopy) {
  CopyObjectRequest request = kCopyObject;
  request.source_key = ObjectKey("s?x=1");
  request.source_version_id = VersionId("v.1/+");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k\nx-amz-copy-source: src/s%3Fx%3D1?versionId=v.1%2F%2B\n\n");
  const auto response = ParseResponse(
      request, ResponseOf("<CopyObjectResult><ETag>e</ETag></CopyObjectResult>",
                          {{"x-amz-version-id", "v2"}, {"x-amz-copy-source-version-id", "v.1/+"}}));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->version_id.value, "v2");
}

TEST(CopyObjectTest, RejectsAnEmptySource) {
  CopyObjectRequest request = kCopyObject;
  request.source_key = ObjectKey();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(CopyObjectTest, ReadsETagAndDate) {
  const auto response = ParseResponse(
      kCopyObject,
      ResponseOf("<CopyObjectResult><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                 "<ETag>&quot;e1&quot;</ETag></CopyObjectResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->etag.value, "e1");
  // date -u -d 2026-01-02T03:04:05Z +%s
  EXPECT_EQ(response->last_modified, WallTime(std::chrono::seconds(1767323045)));
}

TEST(CopyObjectTest, WithoutAnETagNothingWasStored) {
  const auto response =
      ParseResponse(kCopyObject, ResponseOf("<CopyObjectResult></CopyObjectResult>"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kUnsupported);
}

TEST(CopyObjectTest, AnErrorAfterLeadingWhiteSpaceIsAnError) {
  const auto response = ParseResponse(
      kCopyObject,
      ResponseOf(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n   \n<Error><Code>SlowDown</Code></Error>"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kThrottled);
}

TEST(CopyObjectTest, AnEmptyOrUnreadable200IsRetried) {
  for (const char* body : {"", "<CopyObjectResult><ETag>"}) {
    EXPECT_EQ(ParseResponse(kCopyObject, ResponseOf(body)).error().kind, ErrorKind::kUnavailable)
        << body;
  }
  EXPECT_EQ(ParseResponse(kCopyObject, ResponseOf("<html/>")).error().kind, ErrorKind::kUnsupported)
      << "not from S3";
}

RenameObjectRequest Rename(std::string source, std::string destination) {
  RenameObjectRequest request;
  request.bucket = BucketName("b--usw2-az1--x-s3");
  request.source = ObjectKey(std::move(source));
  request.destination = ObjectKey(std::move(destination));
  request.client_token = "token";
  return request;
}

std::string Failure(const RenameObjectRequest& request) {
  const auto built = BuildRequest(request, Context());
  return built.ok() ? "(built)" : built.error().message;
}

TEST(RenameObjectTest, TheSourceIsAnEncodedHeaderAndTheDestinationThePath) {
  EXPECT_EQ(Golden(BuildRequest(Rename("a dir/old+key", "new/key"), Context())),
            "PUT /b--usw2-az1--x-s3/new/key?renameObject=\nx-amz-rename-source: "
            "a%20dir/old%2Bkey\nx-amz-client-token: token\n\n");
}

TEST(RenameObjectTest, SendsConditionsOfBothObjects) {
  RenameObjectRequest request = Rename("a", "b");
  const WallTime then = *ParseHttpDate("Fri, 24 May 2013 00:00:00 GMT");
  request.of_destination = {ETag("d"), ETag("*"), then, then};
  request.of_source = {ETag("s"), ETag("t"), then, then};
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b--usw2-az1--x-s3/b?renameObject=\nx-amz-rename-source: a\nIf-Match: "
            "\"d\"\nIf-None-Match: *\n"
            "If-Modified-Since: Fri, 24 May 2013 00:00:00 GMT\nIf-Unmodified-Since: Fri, 24 May "
            "2013 00:00:00 GMT\n"
            "x-amz-rename-source-if-match: \"s\"\nx-amz-rename-source-if-none-match: \"t\"\n"
            "x-amz-rename-source-if-modified-since: Fri, 24 May 2013 00:00:00 GMT\n"
            "x-amz-rename-source-if-unmodified-since: Fri, 24 May 2013 00:00:00 "
            "GMT\nx-amz-client-token: token\n\n");
}

TEST(RenameObjectTest, RejectsAGeneralPurposeBucketWithTheFix) {
  RenameObjectRequest request = Rename("a", "b");
  request.bucket = BucketName("plain");
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(Failure(request),
            "RenameObject works in directory buckets (S3 Express One Zone) only, and `plain` is a "
            "general purpose "
            "bucket; copy the object and delete its source");
}

TEST(RenameObjectTest, ChecksKeysAndTokens) {
  EXPECT_EQ(Failure(Rename("a", "b/")),
            "the key `b/` ends in /; S3 renames objects, not directories");
  EXPECT_EQ(Failure(Rename("a/", "b")),
            "the key `a/` ends in /; S3 renames objects, not directories");
  EXPECT_NE(Failure(Rename("", "b")).find("the object key is empty"), std::string::npos);
  EXPECT_NE(Failure(Rename("a", std::string(1025, 'k'))).find("1025 bytes"), std::string::npos);
  RenameObjectRequest request = Rename("a", "b");
  for (const std::string& token :
       {std::string(), std::string(65, 't'), std::string("a b"), std::string("a\n")}) {
    request.client_token = token;
    EXPECT_NE(Failure(request).find("1 to 64 printable ASCII characters"), std::string::npos)
        << token;
  }
}

}  // namespace
}  // namespace penstock::s3
