#include "client/s3/verbs/upload_part.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

UploadPartRequest Request(BodySource& body) {
  return {.bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .part_number = 7,
          .body = &body};
}

TEST(UploadPartTest, SendsPartNumberUploadIdAndChecksum) {
  StringSource body("123456789");
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())),
            "PUT /b/k?partNumber=7&uploadId=u\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(Golden(BuildRequest(Request(body), WithoutChecksums())),
            "PUT /b/k?partNumber=7&uploadId=u\n\n");
}

TEST(UploadPartTest, SendsAKnownChecksumWithoutReadingTheBody) {
  StringSource body("123456789");
  body.known_crc64nvme = 0xae8b14860a799888;
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())),
            "PUT /b/k?partNumber=7&uploadId=u\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(UploadPartTest, SendsNoChecksumIfTheOwnerFollowsIt) {
  StringSource body("123456789");
  body.follows_checksum = true;
  EXPECT_EQ(Golden(BuildRequest(Request(body), Context())), "PUT /b/k?partNumber=7&uploadId=u\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(UploadPartTest, RejectsInvalidPartNumbersAndIds) {
  StringSource body("x");
  for (const int number : {0, -1, 10'001}) {
    UploadPartRequest request = Request(body);
    request.part_number = number;
    EXPECT_NE(Golden(BuildRequest(request, Context())).find("is not within 1 to 10000"),
              std::string::npos);
  }
  UploadPartRequest request = Request(body);
  request.upload_id = UploadId();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(UploadPartTest, KeepsTheChecksumOnlyIfS3ConfirmedIt) {
  StringSource body("x");
  auto part = ParseResponse(Request(body),
                            Answer("", {{"ETag", "\"e\""}, {"x-amz-checksum-crc64nvme", "c="}}));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->part_number, 7);
  EXPECT_EQ(part->etag.value, "e");
  EXPECT_EQ(part->checksum_crc64nvme, "c=");
  part = ParseResponse(Request(body), Answer("", {{"ETag", "\"e\""}}));
  EXPECT_EQ(part->checksum_crc64nvme, "");
}

TEST(UploadPartTest, APartWithoutAnETagIsNotStored) {
  StringSource body("x");
  EXPECT_EQ(ParseResponse(Request(body), Answer("", {{"Content-Length", "0"}})).error().kind,
            ErrorKind::kUnsupported);
  EXPECT_EQ(ParseResponse(Request(body), Answer("")).error().kind, ErrorKind::kUnavailable)
      << "the head may be incomplete";
}

}  // namespace
}  // namespace penstock::s3
