#include "client/s3/verbs/complete_multipart_upload.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

CompleteMultipartUploadRequest Request(std::vector<CompletedPart> parts) {
  return {.bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .parts = std::move(parts),
          .object_size = 42};
}

TEST(CompleteMultipartUploadTest, ListsPartsWithConfirmedChecksums) {
  auto request = Request({{1, ETag("e1"), "c1="}, {5, ETag("e5"), ""}});
  request.if_none_match_any = true;
  EXPECT_EQ(
      Golden(BuildRequest(request, Context())),
      "POST /b/k?uploadId=u\nContent-Type: application/xml\nx-amz-checksum-type: FULL_OBJECT\n"
      "x-amz-mp-object-size: 42\nIf-None-Match: *\n\n"
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Part><PartNumber>1</PartNumber><ETag>&quot;e1&quot;</ETag><ChecksumCRC64NVME>c1=</"
      "ChecksumCRC64NVME></Part>"
      "<Part><PartNumber>5</PartNumber><ETag>&quot;e5&quot;</ETag></Part></"
      "CompleteMultipartUpload>");
}

TEST(CompleteMultipartUploadTest, SendsIfMatch) {
  auto request = Request({{1, ETag("e1"), ""}});
  request.if_match = ETag("old");
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok());
  ASSERT_NE(wire->FindHeader("If-Match"), nullptr);
  EXPECT_EQ(*wire->FindHeader("If-Match"), "\"old\"");
  request.if_none_match_any = true;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(CompleteMultipartUploadTest, SendsTheChecksumOfTheWholeObject) {
  auto request = Request({{1, ETag("e1"), ""}});
  request.crc64nvme = 0xae8b14860a799888;  // Of "123456789".
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok());
  ASSERT_NE(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
  EXPECT_EQ(*wire->FindHeader("x-amz-checksum-crc64nvme"), "rosUhgp5mIg=");
  EXPECT_EQ(BuildRequest(request, WithoutChecksums())->FindHeader("x-amz-checksum-crc64nvme"),
            nullptr);
}

TEST(CompleteMultipartUploadTest, SendsNoChecksumTypeWithoutChecksums) {
  const auto wire = BuildRequest(Request({{1, ETag("e1"), ""}}), WithoutChecksums());
  ASSERT_TRUE(wire.ok());
  EXPECT_EQ(wire->FindHeader("x-amz-checksum-type"), nullptr);
}

TEST(CompleteMultipartUploadTest, RejectsListsThatS3WouldReject) {
  EXPECT_FALSE(BuildRequest(Request({}), Context()).ok());
  EXPECT_FALSE(BuildRequest(Request({{2, ETag("e"), ""}, {1, ETag("e"), ""}}), Context()).ok());
  EXPECT_FALSE(BuildRequest(Request({{1, ETag("e"), ""}, {1, ETag("e"), ""}}), Context()).ok());
  EXPECT_FALSE(BuildRequest(Request({{1, ETag(""), ""}}), Context()).ok());
  EXPECT_FALSE(BuildRequest(Request({{10'001, ETag("e"), ""}}), Context()).ok());
}

TEST(CompleteMultipartUploadTest, ReadsETagAndVersion) {
  const auto response = ParseResponse(
      Request({}), Answer("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n  \n  "
                          "<CompleteMultipartUploadResult><ETag>&quot;x-2&quot;</ETag>"
                          "</CompleteMultipartUploadResult>",
                          {{"x-amz-version-id", "v"}}));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->etag.value, "x-2");
  EXPECT_EQ(response->version_id.value, "v");
}

TEST(CompleteMultipartUploadTest, AnErrorInA200IsClassifiedByItsCode) {
  const auto parse = [](const std::string& code) {
    return ParseResponse(Request({}),
                         Answer("<Error><Code>" + code + "</Code><Message>m</Message></Error>"))
        .error()
        .kind;
  };
  EXPECT_EQ(parse("InternalError"), ErrorKind::kUnavailable);
  EXPECT_EQ(parse("SlowDown"), ErrorKind::kThrottled);
  EXPECT_EQ(parse("PreconditionFailed"), ErrorKind::kPreconditionFailed);
  EXPECT_EQ(parse("SomethingNew"), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
