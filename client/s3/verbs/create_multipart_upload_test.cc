#include "client/s3/verbs/create_multipart_upload.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CreateMultipartUploadRequest kRequest{.bucket = BucketName("b"), .key = ObjectKey("k")};

TEST(CreateMultipartUploadTest, DeclaresTheChecksumOfTheWholeObject) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())),
            "POST /b/k?uploads=\nx-amz-checksum-algorithm: CRC64NVME\nx-amz-checksum-type: "
            "FULL_OBJECT\n\n");
}

TEST(CreateMultipartUploadTest, SendsTheAttributes) {
  CreateMultipartUploadRequest request = kRequest;
  request.attributes = {.content_type = "text/plain", .user_metadata = {{"a", "1"}}};
  EXPECT_EQ(Golden(BuildRequest(request, WithoutChecksums())),
            "POST /b/k?uploads=\nContent-Type: text/plain\nx-amz-meta-a: 1\n\n");
}

TEST(CreateMultipartUploadTest, ReadsTheUploadId) {
  const auto response =
      ParseResponse(kRequest, Answer("<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</"
                                     "Key><UploadId>u.1_2-3</UploadId>"
                                     "</InitiateMultipartUploadResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->upload_id.value, "u.1_2-3");
}

TEST(CreateMultipartUploadTest, ChecksumOfTheWholeObjectNeedsConfirmation) {
  const std::string document =
      "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
  const auto keeps = [&](std::vector<http::Header> headers) {
    return ParseResponse(kRequest, Answer(document, std::move(headers))).value().keeps_crc64nvme;
  };
  EXPECT_TRUE(
      keeps({{"x-amz-checksum-algorithm", "CRC64NVME"}, {"x-amz-checksum-type", "FULL_OBJECT"}}));
  EXPECT_FALSE(keeps({}));
  EXPECT_FALSE(keeps({{"x-amz-checksum-algorithm", "CRC32"}}));
}

TEST(CreateMultipartUploadTest, ReadsTheUploadIdFromOtherRootNames) {
  const auto response = ParseResponse(
      kRequest,
      Answer("<InitiateMultipartUpload><UploadId>u</UploadId></InitiateMultipartUpload>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->upload_id.value, "u");
}

TEST(CreateMultipartUploadTest, AResponseWithoutAnIdIsRetried) {
  EXPECT_EQ(ParseResponse(kRequest, Answer("<InitiateMultipartUploadResult/>")).error().kind,
            ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
