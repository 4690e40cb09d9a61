#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

// This harness issues no credentials. auth_test.cc and sessions_test.cc test successful requests.
// Recorded against Amazon S3.
TEST(CreateSessionTest, GeneralPurposeBucketsAnswerWithTheListing) {
  Harness s3;
  s3.Send("PUT /plain-bucket");
  EXPECT_EQ(s3.Send("GET /plain-bucket?session").operation, "ListObjects");
}

TEST(CreateSessionTest, SessionTokensAreRefused) {
  Harness s3;
  s3.MakeDirectoryBucket("b--use1-az4--x-s3");
  const Reply refused = s3.Send("GET /b--use1-az4--x-s3?session\nx-amz-s3session-token: t");
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(refused.Element("Message"),
            "CreateSession request should not include &quot;x-amz-s3session-token&quot;");
}

TEST(CreateSessionTest, ModesAndEncryptionAreChecked) {
  Harness s3;
  s3.MakeDirectoryBucket("b--use1-az4--x-s3");
  const std::string ask = "GET /b--use1-az4--x-s3?session\n";
  EXPECT_EQ(s3.Send(ask + "x-amz-create-session-mode: WriteOnly").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3.Send(ask + "x-amz-server-side-encryption: AES128").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3.Send(ask + "x-amz-server-side-encryption: aws:kms:dsse").Outcome(),
            "501 NotImplemented");
}

// botocore requests a session at a custom endpoint before it creates the bucket.
TEST(CreateSessionTest, OnlyS3HostsRequireTheBucket) {
  Harness s3;
  const Reply zonal =
      s3.Send("GET /?session\nHost: b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com");
  EXPECT_EQ(zonal.Outcome(), "404 NoSuchBucket");
  EXPECT_NE(s3.Send("GET /b--use1-az4--x-s3?session").Outcome(), "404 NoSuchBucket");
  EXPECT_EQ(s3.Send("GET /b--nozone--x-s3?session").Outcome(), "400 InvalidBucketName");
}

}  // namespace
}  // namespace penstock::emulator::s3
