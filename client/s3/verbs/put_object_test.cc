#include "client/s3/verbs/put_object.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

PutObjectRequest Request(BodySource& body) {
  return {.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
}

TEST(PutObjectTest, SendsTheChecksumOfTheBodyAndRewindsIt) {
  StringSource body("123456789");
  const auto wire = BuildRequest(Request(body), Context());
  // CRC-64/NVME of "123456789" is ae8b14860a799888.
  EXPECT_EQ(Golden(wire), "PUT /b/k\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(wire->source, &body);
  EXPECT_EQ(AsText(body.Next(3)), "123");
}

TEST(PutObjectTest, SendsAttributesAndConditions) {
  StringSource body("x");
  PutObjectRequest request = Request(body);
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
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())),
            "PUT /b/k\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  body.rewinds = 0;
  body.known_crc64nvme = 1;
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())),
            "PUT /b/k\nx-amz-checksum-crc64nvme: AAAAAAAAAAE=\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(PutObjectTest, AppendsAtAnOffsetWithTheObjectsChecksumAlgorithm) {
  StringSource body("123456789");
  PutObjectRequest request = Request(body);
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
  PutObjectRequest request = Request(body);
  request.write_offset = 0;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kUnsupported);
}

TEST(PutObjectTest, AnAppendReturnsTheSizeOfTheObject) {
  StringSource body("x");
  const auto response =
      ParseResponse(Request(body), Answer("", {{"ETag", "\"e\""}, {"x-amz-object-size", "12"}}));
  EXPECT_EQ(response->object_size, 12u);
  EXPECT_EQ(ParseResponse(Request(body), Answer("", {{"ETag", "\"e\""}}))->object_size,
            std::nullopt);
}

TEST(PutObjectTest, RejectsBothConditionsTogether) {
  StringSource body("x");
  PutObjectRequest request = Request(body);
  request.if_match = ETag("e");
  request.if_none_match_any = true;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(PutObjectTest, RejectsABodyWhoseSizeIsWrong) {
  StringSource body("12345");
  body.claimed_size = 6;
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())),
            "error: the body source returned 5 bytes, but its size() is 6");
}

TEST(PutObjectTest, RejectsMetadataThatIsInvalidInAHeader) {
  StringSource body("x");
  PutObjectRequest request = Request(body);
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
  EXPECT_EQ(ParseResponse(Request(body), Answer("<html>", {{"Content-Length", "6"}})).error().kind,
            ErrorKind::kUnsupported);
}

TEST(PutObjectTest, ReadsETagAndVersion) {
  StringSource body("x");
  const auto response =
      ParseResponse(Request(body), Answer("", {{"ETag", "\"e1\""}, {"x-amz-version-id", "v1"}}));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->etag.value, "e1");
  EXPECT_EQ(response->version_id.value, "v1");
}

}  // namespace
}  // namespace penstock::s3
