#include "client/torch/s3_uri.h"

#include <gtest/gtest.h>

namespace penstock::torch {
namespace {

TEST(ParseS3Uri, SplitsBucketAndPath) {
  const auto uri = ParseS3Uri("s3://bucket/a/b c%20/");
  ASSERT_TRUE(uri.ok());
  EXPECT_EQ(uri->bucket.value, "bucket");
  EXPECT_EQ(uri->path, "a/b c%20/");
}

TEST(ParseS3Uri, BucketAloneHasAnEmptyPath) {
  EXPECT_EQ(ParseS3Uri("s3://bucket").value().path, "");
  EXPECT_EQ(ParseS3Uri("s3://bucket/").value().path, "");
}

TEST(ParseS3Uri, RejectsOtherTextsAndQuotesThem) {
  for (const char* bad : {"", "s3:/bucket/key", "S3://bucket/key", "bucket/key", "s3://",
                          "s3:///key", "http://b/k"}) {
    const auto uri = ParseS3Uri(bad);
    ASSERT_FALSE(uri.ok()) << bad;
    EXPECT_EQ(uri.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(uri.error().message.find("'" + std::string(bad) + "'"), std::string::npos);
  }
}

TEST(S3Uri, AnObjectNeedsAKey) {
  EXPECT_EQ(ParseObjectUri("s3://bucket/a/b")->path, "a/b");
  for (const char* uri : {"s3://bucket", "s3://bucket/", "bucket/key"})
    EXPECT_EQ(ParseObjectUri(uri).error().kind, ErrorKind::kInvalidArgument) << uri;
}

}  // namespace
}  // namespace penstock::torch
