#include "client/s3/verbs/list_parts.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

ListPartsRequest Request() {
  return {.bucket = BucketName("b"), .key = ObjectKey("k"), .upload_id = UploadId("u")};
}

TEST(ListPartsTest, StartsAfterTheMarker) {
  ListPartsRequest request = Request();
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "GET /b/k?uploadId=u\n\n");
  request.part_number_marker = 3;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET /b/k?uploadId=u&part-number-marker=3\n\n");
}

TEST(ListPartsTest, WithoutAnIdItNeverBecomesGetObject) {
  ListPartsRequest request = Request();
  request.upload_id = UploadId();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

std::string Page(const std::string& truncated) {
  return "<ListPartsResult><NextPartNumberMarker>2</NextPartNumberMarker><IsTruncated>" +
         truncated +
         "</IsTruncated><Part><PartNumber>2</PartNumber><ETag>&quot;e2&quot;</ETag><Size>9</Size></"
         "Part></ListPartsResult>";
}

TEST(ListPartsTest, ReadsParts) {
  const auto page = ParseResponse(Request(), Answer(Page("true")));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->parts.size(), 1u);
  EXPECT_EQ(page->parts[0].part_number, 2);
  EXPECT_EQ(page->parts[0].size, 9u);
  EXPECT_EQ(page->parts[0].etag.value, "e2");
  EXPECT_EQ(page->next_part_number_marker, 2);
}

TEST(ListPartsTest, TheLastPageHasNoMarker) {
  EXPECT_EQ(ParseResponse(Request(), Answer(Page("false")))->next_part_number_marker, 0);
}

TEST(ListPartsTest, AcceptsTheRootOfMoto) {
  // Symptom: ListParts against moto 5.2 failed with "its root is <ListPartsResponse>".
  EXPECT_TRUE(ParseResponse(
                  Request(),
                  Answer("<ListPartsResponse><IsTruncated>false</IsTruncated></ListPartsResponse>"))
                  .ok());
}

TEST(ListPartsTest, APartNumberAboveTheLimitIsRetried) {
  EXPECT_EQ(ParseResponse(
                Request(),
                Answer("<ListPartsResult><Part><PartNumber>99999999999</PartNumber><Size>1</Size>"
                       "</Part></ListPartsResult>"))
                .error()
                .kind,
            ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
