#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

ListPartsRequest ListPartsOf() {
  return {.bucket = BucketName("b"), .key = ObjectKey("k"), .upload_id = UploadId("u")};
}

TEST(ListPartsTest, StartsAfterTheMarker) {
  ListPartsRequest request = ListPartsOf();
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "GET /b/k?uploadId=u\n\n");
  request.part_number_marker = 3;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET /b/k?uploadId=u&part-number-marker=3\n\n");
}

TEST(ListPartsTest, WithoutAnIdItNeverBecomesGetObject) {
  ListPartsRequest request = ListPartsOf();
  request.upload_id = UploadId();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

std::string PartsPage(const std::string& truncated) {
  return "<ListPartsResult><NextPartNumberMarker>2</NextPartNumberMarker><IsTruncated>" +
         truncated +
         "</IsTruncated><Part><PartNumber>2</PartNumber><ETag>&quot;e2&quot;</ETag><Size>9</Size></"
         "Part></ListPartsResult>";
}

TEST(ListPartsTest, ReadsParts) {
  const auto page = ParseResponse(ListPartsOf(), ResponseOf(PartsPage("true")));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->parts.size(), 1u);
  EXPECT_EQ(page->parts[0].part_number, 2);
  EXPECT_EQ(page->parts[0].size, 9u);
  EXPECT_EQ(page->parts[0].etag.value, "e2");
  EXPECT_EQ(page->next_part_number_marker, 2);
}

TEST(ListPartsTest, TheLastPageHasNoMarker) {
  EXPECT_EQ(ParseResponse(ListPartsOf(), ResponseOf(PartsPage("false")))->next_part_number_marker,
            0);
}

TEST(ListPartsTest, WithoutIsTruncatedTheMarkerContinues) {
  const auto page = [](ListPartsRequest request, const std::string& members) {
    return ParseResponse(request, ResponseOf("<ListPartsResult>" + members + "</ListPartsResult>"));
  };
  const std::string marker = "<NextPartNumberMarker>2</NextPartNumberMarker>";
  ListPartsRequest request = ListPartsOf();
  EXPECT_EQ(page(request, marker)->next_part_number_marker, 2);
  EXPECT_EQ(page(request, "")->next_part_number_marker, 0);
  request.part_number_marker = 2;  // The same marker again: no progress, so no further page.
  EXPECT_EQ(page(request, marker)->next_part_number_marker, 0);
}

TEST(ListPartsTest, ATruncatedPageWithoutProgressIsRetried) {
  ListPartsRequest request = ListPartsOf();
  for (const char* marker : {"", "<NextPartNumberMarker>0</NextPartNumberMarker>",
                             "<NextPartNumberMarker>2</NextPartNumberMarker>"}) {
    const auto page =
        ParseResponse(request, ResponseOf("<ListPartsResult><IsTruncated>true</IsTruncated>" +
                                          std::string(marker) + "</ListPartsResult>"));
    ASSERT_FALSE(page.ok()) << marker;
    EXPECT_EQ(page.error().kind, ErrorKind::kUnavailable);
    request.part_number_marker = 2;
  }
}

TEST(ListPartsTest, AcceptsTheRootOfMoto) {
  // Symptom: ListParts against moto 5.2 failed with "its root is <ListPartsResponse>".
  EXPECT_TRUE(
      ParseResponse(
          ListPartsOf(),
          ResponseOf("<ListPartsResponse><IsTruncated>false</IsTruncated></ListPartsResponse>"))
          .ok());
}

TEST(ListPartsTest, APartNumberAboveTheLimitIsRetried) {
  EXPECT_EQ(
      ParseResponse(
          ListPartsOf(),
          ResponseOf("<ListPartsResult><Part><PartNumber>99999999999</PartNumber><Size>1</Size>"
                     "</Part></ListPartsResult>"))
          .error()
          .kind,
      ErrorKind::kUnavailable);
}

const ListMultipartUploadsRequest kListMultipartUploads{.bucket = BucketName("b")};

TEST(ListMultipartUploadsTest, SendsMarkersTogether) {
  ListMultipartUploadsRequest request = kListMultipartUploads;
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
  const auto page = ParseResponse(kListMultipartUploads, ResponseOf(Page("true")));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->uploads.size(), 1u);
  EXPECT_EQ(page->uploads[0].key.value, "a b");
  EXPECT_EQ(page->uploads[0].upload_id.value, "u1");
  EXPECT_EQ(page->uploads[0].initiated, WallTime(std::chrono::seconds(1767323045)));
  EXPECT_EQ(page->next_key_marker, "a b");
  EXPECT_EQ(page->next_upload_id_marker, "u1");
}

TEST(ListMultipartUploadsTest, MarkersOfTheLastPageAreIgnored) {
  const auto page = ParseResponse(kListMultipartUploads, ResponseOf(Page("false")));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->next_key_marker, "");
  EXPECT_EQ(page->next_upload_id_marker, "");
}

TEST(ListMultipartUploadsTest, WithoutIsTruncatedTheMarkersContinue) {
  const std::string members =
      "<ListMultipartUploadsResult><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u1"
      "</NextUploadIdMarker></ListMultipartUploadsResult>";
  ListMultipartUploadsRequest request = kListMultipartUploads;
  EXPECT_EQ(ParseResponse(request, ResponseOf(members))->next_key_marker, "k");
  EXPECT_EQ(ParseResponse(request, ResponseOf(members))->next_upload_id_marker, "u1");
  request.key_marker = "k";
  EXPECT_EQ(ParseResponse(request, ResponseOf(members))->next_key_marker, "k");
  request.upload_id_marker = "u1";
  EXPECT_EQ(ParseResponse(request, ResponseOf(members))->next_key_marker, "");
}

TEST(ListMultipartUploadsTest, ATruncatedPageWithoutMarkerIsRetried) {
  EXPECT_EQ(ParseResponse(kListMultipartUploads,
                          ResponseOf("<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                                     "</ListMultipartUploadsResult>"))
                .error()
                .kind,
            ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
