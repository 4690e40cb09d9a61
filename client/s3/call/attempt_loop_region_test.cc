// Redirects are followed once, and stored after a server there has responded.
#include <gtest/gtest.h>

#include <string>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

ClientConfig Aws() { return {.region = "us-east-1"}; }

TEST(RegionRedirectTest, IsFollowedOnceAndStored) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(test.sent(), 3u);
  EXPECT_EQ(test.Header(0, "Host"), "bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(test.Header(1, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_NE(test.Header(1, "Authorization").find("/eu-west-1/s3/"), std::string::npos);
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
}

TEST(RegionRedirectTest, ACustomEndpointKeepsItsHostAndChangesTheSignature) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(
      400, {}, ErrorXml("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), "127.0.0.1:9000");
  EXPECT_NE(test.Header(1, "Authorization").find("/eu-west-1/s3/"), std::string::npos);
}

TEST(RegionRedirectTest, ASecondRedirectIsAnErrorWithTheRegion) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-2"}}));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "eu-west-2");
  EXPECT_EQ(result.error().attempts, 2);
  EXPECT_NE(result.error().message.find(
                "(answered 301 by bucket.s3.eu-west-1.amazonaws.com, after another redirect)"),
            std::string::npos)
      << result.error().message;
}

TEST(RegionRedirectTest, ARedirectToTheRequestedRegionDoesNotAdviseToConfigureIt) {
  // Symptom: a client of us-east-1 got the advice `the bucket is in region us-east-1; configure
  // that region`.
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "us-east-1"}}));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().message,
            "m (the response names region us-east-1, to which the request was sent; the "
            "endpoint may belong to another region) "
            "(answered 301 by bucket.s3.us-east-1.amazonaws.com)");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(RegionRedirectTest, ErrorOfAHeadAfterARedirectNamesTheRegion) {
  // Symptom: `bad request` for a valid request.
  ClientUnderTest test(Aws());
  test.transport.Expect(FakeReply::Respond(301, {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(FakeReply::Respond(400));
  const auto result = test.Run(HeadBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(
      result.error().message,
      "bad request (a response to HEAD gives no reason; the bucket may not be in region eu-west-1) "
      "(answered 400 by "
      "bucket.s3.eu-west-1.amazonaws.com, after a redirect)");
}

TEST(RegionRedirectTest, AHeadWithoutARedirectIsABadRequest) {
  ClientUnderTest test(Aws());
  test.transport.Expect(FakeReply::Respond(400));
  const auto result = test.Run(HeadBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(result.error().message, "bad request");
}

FakeReply To(const std::string& region) {
  return Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", region}});
}

const std::string kHere = "bucket.s3.us-east-1.amazonaws.com";

TEST(RegionRedirectTest, OnlyARespondingRegionIsStored) {
  // Symptom: after one redirect to a wrong region, the client sent all requests to that region for
  // ever.
  const FakeReply unreachable =
      FakeReply::Refuse(Error::Make(ErrorKind::kUnavailable, "cannot resolve the host"));
  for (const FakeReply& there :
       {unreachable, To("eu-west-2"), Refuse(307, "TemporaryRedirect"), Refuse(502, "BadGateway"),
        FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "connection reset"))}) {
    ClientUnderTest test({.region = "us-east-1", .max_attempts = 2});
    test.transport.Expect(To("nowhere-1"));
    test.transport.Expect(there);
    EXPECT_FALSE(test.Get().ok());
    EXPECT_EQ(test.Header(1, "Host"), "bucket.s3.nowhere-1.amazonaws.com");
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok()) << there.status;
    EXPECT_EQ(test.Header(2, "Host"), kHere) << there.status;
  }
}

TEST(RegionRedirectTest, AnErrorResponseCountsAsAResponse) {
  ClientUnderTest test(Aws());
  test.transport.Expect(To("eu-west-1"));
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  test.transport.Expect(Object("abc"));
  EXPECT_EQ(test.Get().error().code, "NoSuchKey");
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
}

TEST(RegionRedirectTest, ARegionWithoutTheBucketIsForgotten) {
  const FakeReply unreachable =
      FakeReply::Refuse(Error::Make(ErrorKind::kUnavailable, "cannot resolve the host"));
  for (const FakeReply& later : {unreachable, Refuse(301, "PermanentRedirect")}) {
    ClientUnderTest test({.region = "us-east-1", .max_attempts = 1});
    test.transport.Expect(To("eu-west-1"));
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    test.transport.Expect(later);
    EXPECT_FALSE(test.Get().ok());
    EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    EXPECT_EQ(test.Header(3, "Host"), kHere) << later.status;
  }
}

TEST(RegionRedirectTest, ABucketThatMovedIsFollowed) {
  ClientUnderTest test(Aws());
  for (const char* region : {"eu-west-1", "eu-west-2", "us-east-1"}) {
    test.transport.Expect(To(region));
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    EXPECT_EQ(test.Header(test.sent() - 1, "Host"),
              "bucket.s3." + std::string(region) + ".amazonaws.com");
  }
}

TEST(RegionRedirectTest, AnInvalidRegionNameIsNeitherUsedNorStored) {
  // Symptom: `Invalid region ... in the configuration, in AWS_REGION or in the profile` for ever,
  // without a request.
  ClientUnderTest test(Aws());
  test.transport.Expect(To("evil.example/x"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "");
  EXPECT_EQ(result.error().message,
            "m (the response names the region `evil.example/x`, which is not a valid region name) "
            "(answered "
            "301 by " +
                kHere + ")");
  EXPECT_EQ(test.sent(), 1u);
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), kHere);
}

TEST(RegionRedirectTest, ARegionThatTheConfigurationExcludesIsNotUsed) {
  ClientUnderTest test({.region = "us-east-1", .use_fips_endpoint = true});
  test.transport.Expect(To("cn-north-1"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_NE(result.error().message.find(
                "the client has no endpoint for that region: Partition does not support FIPS"),
            std::string::npos)
      << result.error().message;
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Get().ok());
}

TEST(RegionRedirectTest, CreateBucketDoesNotCreateInAnotherRegion) {
  // Symptom: configured for eu-west-1 with a service in us-east-1, CreateBucket succeeded in
  // us-east-1 without an error.
  ClientUnderTest test({.region = "eu-west-1", .endpoint_url = "http://127.0.0.1:9000"});
  test.transport.Expect(FakeReply::Respond(
      400, {}, ErrorXml("AuthorizationHeaderMalformed", "<Region>us-east-1</Region>")));
  const auto result = test.Run(CreateBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "us-east-1");
  EXPECT_EQ(
      result.error().message,
      "the service is in us-east-1, the client is configured for eu-west-1; set region=us-east-1");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(RegionRedirectTest, CreateBucketIgnoresTheStoredRegionOfThatName) {
  // Symptom: a bucket that was read in eu-west-2, deleted and created again was requested in
  // eu-west-2 instead of the configured region.
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-2"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(FakeReply::Respond(200));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Run(CreateBucketRequest{.bucket = BucketName("bucket")}).ok());
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.us-east-1.amazonaws.com");
}

TEST(RegionRedirectTest, ATemporaryHostServesThisCallOnly) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(307, "TemporaryRedirect",
                               {{"Location", "https://bucket.s3-eu-west-1.amazonaws.com/key"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), "bucket.s3-eu-west-1.amazonaws.com");
  EXPECT_EQ(test.transport.requests()[1].request.target, "/key");
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.us-east-1.amazonaws.com");
}

TEST(RegionRedirectTest, AHeadIsRedirectedByItsHeader) {
  ClientUnderTest test(Aws());
  test.transport.Expect(FakeReply::Respond(400, {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(FakeReply::Respond(200, {{"x-amz-bucket-region", "eu-west-1"}}));
  const auto result = test.Run(HeadBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->region, "eu-west-1");
}

}  // namespace
}  // namespace penstock::s3
