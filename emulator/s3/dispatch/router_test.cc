#include "emulator/s3/dispatch/router.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

TEST(RouterTest, SetsTheNameOfTheOperation) {
  Harness s3;
  const Reply reply = s3.Send("PUT /bucket");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.operation, "CreateBucket");
}

TEST(RouterTest, RunsTheOperationThatWasFoundBefore) {
  Harness s3;
  s3.Send("PUT /bucket");
  const auto router = MakeRouter({});
  RequestHead head{.method = "GET", .target = "/bucket", .minor_version = 1, .headers = {}};
  Connection connection;
  testing::TextBody body("", 0, {});
  Exchange exchange{head, connection, &body};
  exchange.target = ParseTarget(head.target, "127.0.0.1", {}).value();
  exchange.space = std::make_shared<Namespace>(s3.space());
  exchange.identity = s3.identity();
  SetOperation(exchange);
  EXPECT_EQ(exchange.operation, "ListObjects");
  head.method = "POST";  // There is no such operation.
  router->Handle(exchange);
  EXPECT_EQ(exchange.response.status, 200);
}

// S3 checks bucket names in every operation.
TEST(RouterTest, BadNamesAndKeysAreRefusedBeforeTheOperation) {
  Harness s3;
  EXPECT_EQ(s3.Send("GET /UPPER/key").Outcome(), "400 InvalidBucketName");
  EXPECT_EQ(s3.Send("PUT /bucket/" + std::string(1025, 'k'), "x").Outcome(), "400 KeyTooLongError");
  EXPECT_EQ(s3.Send("PUT /bucket/a/../../b", "x").Outcome(), "400 400");
}

// Recorded against Amazon S3, for buckets that do not exist.
TEST(RouterTest, BucketsAndUploadsHaveNoVersions) {
  Harness s3;
  for (const char* request : {"GET /missing?versionId=x", "GET /missing?versioning&versionId=null",
                              "DELETE /missing?versionId=", "PUT /missing?tagging&versionId=x",
                              "GET /missing/k?uploadId=u&versionId=x"}) {
    const Reply reply = s3.Send(request);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << request;
    EXPECT_EQ(reply.Element("Message"), "This operation does not accept a version-id.") << request;
    EXPECT_EQ(reply.Element("ArgumentName"), "versionId") << request;
  }
  EXPECT_EQ(s3.Send("GET /missing?acl&versionId=x").Element("Message"),
            "Invalid version id specified");
  EXPECT_EQ(s3.Send("PUT /missing?acl&versionId=x").Outcome(), "404 NoSuchBucket");
}

// Recorded against Amazon S3.
TEST(RouterTest, WebsiteHasNoValue) {
  Harness s3;
  const Reply reply = s3.Send("GET /missing?website=x");
  EXPECT_EQ(reply.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(reply.Element("Message"), "The website parameter must not have a value");
  EXPECT_EQ(reply.Element("ArgumentValue"), "x");
}

TEST(RouterTest, RelaxedBucketNamesWorkInTargetsAndCopySources) {
  Harness s3({.bucket_names = BucketNameRules::kRelaxed});
  EXPECT_EQ(s3.Send("PUT /My_Bucket").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /My_Bucket/key", "x").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /My_Bucket/copy\nx-amz-copy-source: My_Bucket/key").Outcome(), "200");
  EXPECT_EQ(s3.Send("PUT /My%20Bucket").Outcome(), "400 InvalidBucketName");
}

TEST(RouterTest, VirtualHostedRequestsReachTheSameBucket) {
  Harness s3;
  s3.Send("PUT /\nHost: bucket.localhost:9000");
  s3.Send("PUT /key\nHost: bucket.localhost:9000", "x");
  EXPECT_EQ(s3.Send("GET /bucket/key").body, "x");
}

}  // namespace
}  // namespace penstock::emulator::s3
