#include "client/s3/verbs/list_multipart_uploads.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const ListMultipartUploadsRequest kRequest{.bucket = BucketName("b")};

TEST(ListMultipartUploadsTest, SendsMarkersTogether) {
  ListMultipartUploadsRequest request = kRequest;
  request.upload_id_marker = "u";
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "GET /b?uploads=&encoding-type=url\n\n");
  request.prefix = "p/";
  request.key_marker = "p/k";
  EXPECT_EQ(
      Golden(BuildRequest(request, Context())),
      "GET /b?uploads=&encoding-type=url&prefix=p%2F&key-marker=p%2Fk&upload-id-marker=u\n\n");
}

std::string Page(const std::string& truncated) {
  return "<ListMultipartUploadsResult><NextKeyMarker>a+b</NextKeyMarker><NextUploadIdMarker>u1</"
         "NextUploadIdMarker>"
         "<EncodingType>url</EncodingType><IsTruncated>" +
         truncated +
         "</IsTruncated><Upload><Key>a+b</Key>"
         "<UploadId>u1</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload></"
         "ListMultipartUploadsResult>";
}

TEST(ListMultipartUploadsTest, ReadsUploads) {
  const auto page = ParseResponse(kRequest, Answer(Page("true")));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->uploads.size(), 1u);
  EXPECT_EQ(page->uploads[0].key.value, "a b");
  EXPECT_EQ(page->uploads[0].upload_id.value, "u1");
  EXPECT_EQ(page->uploads[0].initiated, WallTime(std::chrono::seconds(1767323045)));
  EXPECT_EQ(page->next_key_marker, "a b");
  EXPECT_EQ(page->next_upload_id_marker, "u1");
}

TEST(ListMultipartUploadsTest, MarkersOfTheLastPageAreIgnored) {
  const auto page = ParseResponse(kRequest, Answer(Page("false")));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->next_key_marker, "");
  EXPECT_EQ(page->next_upload_id_marker, "");
}

TEST(ListMultipartUploadsTest, ATruncatedPageWithoutMarkerIsRetried) {
  EXPECT_EQ(
      ParseResponse(kRequest, Answer("<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                                     "</ListMultipartUploadsResult>"))
          .error()
          .kind,
      ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
