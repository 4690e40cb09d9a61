#include "client/s3/verbs/copy_object.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CopyObjectRequest kRequest{.source_bucket = BucketName("src"),
                                 .source_key = ObjectKey("a b/ü+1"),
                                 .bucket = BucketName("b"),
                                 .key = ObjectKey("k")};

TEST(CopyObjectTest, EncodesTheSource) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())),
            "PUT /b/k\nx-amz-copy-source: src/a%20b/%C3%BC%2B1\n\n");
}

TEST(CopyObjectTest, SendsTheSourceCondition) {
  CopyObjectRequest request = kRequest;
  request.source_key = ObjectKey("s");
  request.source_if_match = ETag("e");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k\nx-amz-copy-source: src/s\nx-amz-copy-source-if-match: \"e\"\n\n");
}

TEST(CopyObjectTest, SendsTheSourceVersionAndReadsTheVersionOfTheCopy) {
  CopyObjectRequest request = kRequest;
  request.source_key = ObjectKey("s?x=1");
  request.source_version_id = VersionId("v.1/+");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k\nx-amz-copy-source: src/s%3Fx%3D1?versionId=v.1%2F%2B\n\n");
  const auto response = ParseResponse(
      request, Answer("<CopyObjectResult><ETag>e</ETag></CopyObjectResult>",
                      {{"x-amz-version-id", "v2"}, {"x-amz-copy-source-version-id", "v.1/+"}}));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->version_id.value, "v2");
}

TEST(CopyObjectTest, RejectsAnEmptySource) {
  CopyObjectRequest request = kRequest;
  request.source_key = ObjectKey();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(CopyObjectTest, ReadsETagAndDate) {
  const auto response = ParseResponse(
      kRequest, Answer("<CopyObjectResult><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                       "<ETag>&quot;e1&quot;</ETag></CopyObjectResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->etag.value, "e1");
  // date -u -d 2026-01-02T03:04:05Z +%s
  EXPECT_EQ(response->last_modified, WallTime(std::chrono::seconds(1767323045)));
}

TEST(CopyObjectTest, AnErrorAfterLeadingWhiteSpaceIsAnError) {
  const auto response = ParseResponse(
      kRequest,
      Answer(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n   \n<Error><Code>SlowDown</Code></Error>"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kThrottled);
}

TEST(CopyObjectTest, AnEmptyOrUnreadable200IsRetried) {
  for (const char* body : {"", "<CopyObjectResult><ETag>"}) {
    EXPECT_EQ(ParseResponse(kRequest, Answer(body)).error().kind, ErrorKind::kUnavailable) << body;
  }
  EXPECT_EQ(ParseResponse(kRequest, Answer("<html/>")).error().kind, ErrorKind::kUnsupported)
      << "not from S3";
}

}  // namespace
}  // namespace penstock::s3
