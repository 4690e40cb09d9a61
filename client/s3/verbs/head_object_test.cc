#include "client/s3/verbs/head_object.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const HeadObjectRequest kRequest{.bucket = BucketName("b"), .key = ObjectKey("k")};

TEST(HeadObjectTest, RequestsChecksums) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())),
            "HEAD /b/k\nx-amz-checksum-mode: ENABLED\n\n");
  EXPECT_EQ(Golden(BuildRequest(kRequest, WithoutChecksums())), "HEAD /b/k\n\n");
}

TEST(HeadObjectTest, SendsTheVersion) {
  HeadObjectRequest request = kRequest;
  request.version_id = VersionId("v1");
  EXPECT_EQ(Golden(BuildRequest(request, WithoutChecksums())), "HEAD /b/k?versionId=v1\n\n");
}

TEST(HeadObjectTest, TakesTheSizeFromContentLength) {
  const auto metadata =
      ParseResponse(kRequest, Answer("", {{"content-length", "123"}, {"etag", "\"e\""}}));
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->size, 123u);
}

TEST(HeadObjectTest, WithoutAnETagThereIsNoObject) {
  EXPECT_EQ(ParseResponse(kRequest, Answer("", {{"content-length", "123"}})).error().kind,
            ErrorKind::kUnsupported);
}

TEST(HeadObjectTest, WithoutContentLengthTheSizeIsNotGuessed) {
  EXPECT_EQ(ParseResponse(kRequest, Answer("", {{"etag", "\"e\""}})).error().kind,
            ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::s3
