#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

std::string Constraint(std::string_view region) {
  return "<CreateBucketConfiguration "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>" +
         std::string(region) + "</LocationConstraint></CreateBucketConfiguration>";
}

TEST(BucketsTest, HeadReturnsRegionAndArn) {
  Harness s3;
  s3.Send("PUT /bucket");
  const Reply reply = s3.Send("HEAD /bucket");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Header("x-amz-bucket-region"), "us-east-1");
  EXPECT_EQ(reply.Header("x-amz-bucket-arn"), "arn:aws:s3:::bucket");
  EXPECT_EQ(reply.Header("x-amz-access-point-alias"), "false");
  const Reply refused = s3.Send("HEAD /bucket\nx-amz-expected-bucket-owner: 000000000000");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.Header("x-amz-bucket-region"), "us-east-1");
  EXPECT_EQ(s3.Send("HEAD /absent").Header("x-amz-bucket-region"), "<absent>");
}

// Unfinished uploads do not prevent deletion.
TEST(BucketsTest, DeleteNeedsAnEmptyBucket) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  s3.Send("POST /bucket/k?uploads");
  const Reply full = s3.Send("DELETE /bucket");
  EXPECT_EQ(full.Outcome(), "409 BucketNotEmpty");
  EXPECT_EQ(full.Element("Message"), "The bucket you tried to delete is not empty");
  EXPECT_EQ(full.Element("BucketName"), "bucket");
  s3.Send("DELETE /bucket/k");
  EXPECT_EQ(s3.Send("DELETE /bucket").Outcome(), "204");
  EXPECT_EQ(s3.Send("DELETE /bucket").Outcome(), "404 NoSuchBucket");
}

TEST(BucketsTest, LocationIsEmptyForUsEast1) {
  Harness us;
  us.Send("PUT /bucket");
  EXPECT_NE(
      us.Send("GET /bucket?location")
          .body.find("<LocationConstraint xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>"),
      std::string::npos);
  Harness eu({.region = "eu-west-1"});
  eu.Send("PUT /bucket", Constraint("EU"));
  EXPECT_TRUE(eu.Send("GET /bucket?location").body.ends_with("\">EU</LocationConstraint>"));
}

TEST(BucketsTest, ListPagesAndFilters) {
  Harness s3;
  for (const char* name : {"aaa-1", "aaa-2", "bbb-1"}) s3.Send(std::string("PUT /") + name);
  const Reply all = s3.Send("GET /");
  EXPECT_EQ(all.Elements("Name"), (std::vector<std::string>{"aaa-1", "aaa-2", "bbb-1"}));
  EXPECT_EQ(all.Element("ID"), std::string(64, 'a'));
  EXPECT_EQ(all.Element("DisplayName"), "<absent>");
  EXPECT_EQ(all.Element("BucketRegion"), "<absent>");
  EXPECT_EQ(all.Element("BucketArn"), "arn:aws:s3:::aaa-1");
  EXPECT_EQ(all.Element("CreationDate"), "2026-01-02T03:04:05.000Z");
  const Reply page = s3.Send("GET /?max-buckets=2");
  EXPECT_EQ(page.Elements("Name"), (std::vector<std::string>{"aaa-1", "aaa-2"}));
  EXPECT_EQ(page.Element("BucketRegion"), "us-east-1");
  const std::string token = page.Element("ContinuationToken");
  const Reply rest = s3.Send("GET /?max-buckets=2&continuation-token=" + token);
  EXPECT_EQ(rest.Elements("Name"), (std::vector<std::string>{"bbb-1"}));
  EXPECT_EQ(rest.Element("ContinuationToken"), "<absent>");
  EXPECT_EQ(s3.Send("GET /?prefix=bbb").Elements("Name"), (std::vector<std::string>{"bbb-1"}));
  EXPECT_EQ(s3.Send("GET /?max-buckets=0").Element("Message"),
            "Argument max-buckets must be an integer between 1 and 10000.");
  const Reply region = s3.Send("GET /?bucket-region=mars");
  EXPECT_EQ(region.Element("Message"), "Argument value mars is not a valid AWS Region");
  EXPECT_EQ(region.Element("ArgumentName"), "bucket-region");
  EXPECT_EQ(region.Element("ArgumentValue"), "<absent>") << "recorded against Amazon S3";
  EXPECT_EQ(s3.Send("GET /?continuation-token=").Elements("Name").size(), 3u)
      << "recorded against Amazon S3";
  EXPECT_EQ(s3.Send("GET /?continuation-token=x").Outcome(), "400 InvalidArgument");
}

}  // namespace
}  // namespace penstock::emulator::s3
