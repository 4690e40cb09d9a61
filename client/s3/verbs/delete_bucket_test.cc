#include "client/s3/verbs/delete_bucket.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(DeleteBucketTest, AddressesTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(DeleteBucketRequest{.bucket = BucketName("b")}, Context())), "DELETE /b\n\n");
}

TEST(DeleteBucketTest, RefusesAnEmptyName) {
  EXPECT_EQ(BuildRequest(DeleteBucketRequest{}, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(DeleteBucketTest, AnyAnswerOfSuccessIsEnough) {
  EXPECT_TRUE(ParseResponse(DeleteBucketRequest{}, Answer("", {}, 204)).ok());
}

}  // namespace
}  // namespace penstock::s3
