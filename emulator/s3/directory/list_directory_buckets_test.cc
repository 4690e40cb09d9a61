#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;
using Names = std::vector<std::string>;

TEST(ListDirectoryBucketsTest, ListsContainOnlyTheirKindOfBucket) {
  Harness s3;
  s3.Send("PUT /plain-bucket");
  s3.MakeDirectoryBucket("b--use1-az4--x-s3");
  EXPECT_EQ(s3.Send("GET /").Elements("Name"), Names{"plain-bucket"});
  const Reply directory = s3.Send("GET /?max-directory-buckets=1000");
  EXPECT_EQ(directory.operation, "ListDirectoryBuckets");
  EXPECT_EQ(directory.Elements("Name"), Names{"b--use1-az4--x-s3"});
  EXPECT_EQ(directory.Element("CreationDate"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(directory.Element("BucketArn"),
            "arn:aws:s3express:us-east-1:123456789012:bucket/b--use1-az4--x-s3");
}

TEST(ListDirectoryBucketsTest, HostAndSignatureSelectTheOperation) {
  Harness s3;
  EXPECT_EQ(s3.Send("GET /\nHost: s3express-control.us-east-1.amazonaws.com").operation,
            "ListDirectoryBuckets");
  EXPECT_EQ(s3.Send("GET /\nAuthorization: AWS4-HMAC-SHA256 "
                    "Credential=AKID/20260102/us-east-1/s3express/aws4_request, x")
                .operation,
            "ListDirectoryBuckets");
  EXPECT_EQ(s3.Send("GET /?X-Amz-Credential=AKID%2F20260102%2Fus-east-1%2Fs3express%2Faws4_request")
                .operation,
            "ListDirectoryBuckets");
  EXPECT_EQ(s3.Send("GET /\nAuthorization: AWS4-HMAC-SHA256 "
                    "Credential=AKID/20260102/us-east-1/s3/aws4_request, x")
                .operation,
            "ListBuckets");
}

TEST(ListDirectoryBucketsTest, PagesContainEveryBucket) {
  Harness s3;
  for (const char* name : {"a--use1-az4--x-s3", "b--use1-az4--x-s3", "c--use1-az5--x-s3"})
    s3.MakeDirectoryBucket(name);
  const Reply first = s3.Send("GET /?max-directory-buckets=2");
  EXPECT_EQ(first.Elements("Name"), (Names{"a--use1-az4--x-s3", "b--use1-az4--x-s3"}));
  const Reply rest = s3.Send("GET /?max-directory-buckets=2&continuation-token=" +
                             first.Element("ContinuationToken"));
  EXPECT_EQ(rest.Elements("Name"), Names{"c--use1-az5--x-s3"});
  EXPECT_EQ(rest.Element("ContinuationToken"), "<absent>");
  EXPECT_EQ(s3.Send("GET /?max-directory-buckets=0").Elements("Name"), Names{});
  EXPECT_EQ(s3.Send("GET /?max-directory-buckets=1001").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3.Send("GET /?max-directory-buckets=1&continuation-token=x").Outcome(),
            "400 InvalidArgument");
}

TEST(ListDirectoryBucketsTest, ListsOnlyBucketsOfTheAccountAndRegion) {
  Harness s3;
  s3.MakeDirectoryBucket("a--use1-az4--x-s3");
  s3.signing_region() = "eu-west-1";
  s3.MakeDirectoryBucket("b--euw1-az1--x-s3");
  EXPECT_EQ(s3.Send("GET /?max-directory-buckets=9").Elements("Name"), Names{"b--euw1-az1--x-s3"});
  s3.identity().owner_id = std::string(64, 'b');
  EXPECT_EQ(s3.Send("GET /?max-directory-buckets=9").Elements("Name"), Names{});
}

}  // namespace
}  // namespace penstock::emulator::s3
