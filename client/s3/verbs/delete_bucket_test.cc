#include "client/s3/verbs/delete_bucket.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(DeleteBucketTest, SendsTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(DeleteBucketRequest{.bucket = BucketName("b")}, Context())),
            "DELETE /b\n\n");
}

TEST(DeleteBucketTest, RejectsAnEmptyName) {
  EXPECT_EQ(BuildRequest(DeleteBucketRequest{}, Context()).error().kind,
            ErrorKind::kInvalidArgument);
}

TEST(DeleteBucketTest, RejectsAnAccessPoint) {
  // Symptom: the request was sent to the access point's host without the session that is required
  // there.
  const auto request =
      BuildRequest(DeleteBucketRequest{BucketName("name--usw2-az1--xa-s3"), {}}, Context());
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(
      request.error().message,
      "`name--usw2-az1--xa-s3` is an access point, and DeleteBucket accepts only the bucket itself "
      "(base--zone--x-s3); access points are created and deleted by S3 Control");
}

TEST(DeleteBucketTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(DeleteBucketRequest{}, Answer("", {}, 204)).ok());
}

}  // namespace
}  // namespace penstock::s3
