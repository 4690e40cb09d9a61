#include "client/s3/verbs/head_bucket.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const HeadBucketRequest kRequest{.bucket = BucketName("b")};

TEST(HeadBucketTest, SendsTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())), "HEAD /b\n\n");
}

TEST(HeadBucketTest, ReturnsTheRegion) {
  EXPECT_EQ(ParseResponse(kRequest, Answer("", {{"X-Amz-Bucket-Region", "eu-west-1"}}))->region,
            "eu-west-1");
  EXPECT_EQ(ParseResponse(kRequest, Answer(""))->region, "");
}

}  // namespace
}  // namespace penstock::s3
