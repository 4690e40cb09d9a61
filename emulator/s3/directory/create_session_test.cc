#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

// Nobody here makes credentials: what is refused is refused before that (auth_test.cc and
// sessions_test.cc have the rest).
TEST(CreateSessionTest, GeneralPurposeBucketsHaveNoSessions) {
  Harness s3;
  s3.Send("PUT /plain-bucket");
  EXPECT_EQ(s3.Send("GET /plain-bucket?session").Outcome(), "501 NotImplemented");
}

TEST(CreateSessionTest, ASessionIsNotAskedForWithASession) {
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

// Spec §1.3 "botocore quirk": at an endpoint of one's own the bucket need not be there yet.
TEST(CreateSessionTest, OnlyS3sOwnEndpointMissesTheBucket) {
  Harness s3;
  const Reply zonal =
      s3.Send("GET /?session\nHost: b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com");
  EXPECT_EQ(zonal.Outcome(), "404 NoSuchBucket");
  EXPECT_NE(s3.Send("GET /b--use1-az4--x-s3?session").Outcome(), "404 NoSuchBucket");
  EXPECT_EQ(s3.Send("GET /b--nozone--x-s3?session").Outcome(), "400 InvalidBucketName");
}

}  // namespace
}  // namespace penstock::emulator::s3
