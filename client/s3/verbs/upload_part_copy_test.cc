#include "client/s3/verbs/upload_part_copy.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

UploadPartCopyRequest Request() {
  return {.source_bucket = BucketName("src"),
          .source_key = ObjectKey("s k"),
          .bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .part_number = 2};
}

TEST(UploadPartCopyTest, SendsSourceRangeAndCondition) {
  UploadPartCopyRequest request = Request();
  request.source_range = ByteRange{10, 20};
  request.source_if_match = ETag("e");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k?partNumber=2&uploadId=u\nx-amz-copy-source: "
            "src/s%20k\nx-amz-copy-source-range: bytes=10-19\n"
            "x-amz-copy-source-if-match: \"e\"\n\n");
}

TEST(UploadPartCopyTest, RejectsAnEmptyRange) {
  UploadPartCopyRequest request = Request();
  request.source_range = ByteRange{10, 10};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(UploadPartCopyTest, ReadsETagAndChecksum) {
  const auto part = ParseResponse(
      Request(), Answer("<CopyPartResult><LastModified>2026-01-02T03:04:05.000Z</"
                        "LastModified><ETag>&quot;e&quot;</ETag>"
                        "<ChecksumCRC64NVME>c=</ChecksumCRC64NVME></CopyPartResult>"));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->part_number, 2);
  EXPECT_EQ(part->etag.value, "e");
  EXPECT_EQ(part->checksum_crc64nvme, "c=");
}

TEST(UploadPartCopyTest, AnErrorDocumentInA200IsAnError) {
  const auto part = ParseResponse(
      Request(), Answer("<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>"));
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().kind, ErrorKind::kNotFound);
}

TEST(UploadPartCopyTest, SendsTheSourceVersion) {
  UploadPartCopyRequest request{BucketName("src"),
                                ObjectKey("s"),
                                ByteRange{0, 10},
                                {},
                                BucketName("b"),
                                ObjectKey("k"),
                                UploadId("u"),
                                1,
                                {},
                                VersionId("v")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k?partNumber=1&uploadId=u\nx-amz-copy-source: "
            "src/s?versionId=v\nx-amz-copy-source-range: bytes=0-9\n\n");
}

}  // namespace
}  // namespace penstock::s3
