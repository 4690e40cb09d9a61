#include "emulator/instruments/target_secrets.h"

#include <gtest/gtest.h>

namespace penstock::emulator::instruments {
namespace {

std::string Told(std::string_view target) {
  std::string scratch = "left over";
  return std::string(WithoutSecrets(target, scratch));
}

TEST(TargetSecretsTest, WhatIsNoSecretStaysAsSent) {
  for (const char* target : {"/", "/bucket/key", "/b/k?", "/b?list-type=2&prefix=Signature=x", "/b/k%20?versionId=1&&=&x", "*",
                             "/b/X-Amz-Signature=abc", "/b?X-Amz-Credential=AKIA%2F20260102&X-Amz-Date=20260102T000000Z"}) {
    EXPECT_EQ(Told(target), target);
  }
}

TEST(TargetSecretsTest, SignaturesAndTokensOfPresignedUrlsAreMarked) {
  EXPECT_EQ(Told("/b/k?X-Amz-Algorithm=A&X-Amz-Security-Token=t0ken%2F&X-Amz-Expires=60&X-Amz-Signature=0123abcd"),
            "/b/k?X-Amz-Algorithm=A&X-Amz-Security-Token=***&X-Amz-Expires=60&X-Amz-Signature=***");
  EXPECT_EQ(Told("/b/k?X-Amz-Signature=0123&x-id=GetObject"), "/b/k?X-Amz-Signature=***&x-id=GetObject");
  EXPECT_EQ(Told("/b/k?AWSAccessKeyId=AKIA&Signature=c2ln%3D&Expires=1"), "/b/k?AWSAccessKeyId=AKIA&Signature=***&Expires=1");
  EXPECT_EQ(Told("/b/k?x-amz-s3session-token=t"), "/b/k?x-amz-s3session-token=***");
  EXPECT_EQ(Told("/b/k?x-amz-server-side-encryption-customer-key=k"), "/b/k?x-amz-server-side-encryption-customer-key=***");
}

TEST(TargetSecretsTest, NeitherCaseNorEncodingNorRepetitionHidesThem) {
  EXPECT_EQ(Told("/b/k?x-amz-SIGNATURE=0123"), "/b/k?x-amz-SIGNATURE=***");
  EXPECT_EQ(Told("/b/k?X%2DAmz%2dSignature=0123"), "/b/k?X%2DAmz%2dSignature=***");
  EXPECT_EQ(Told("/b/k?Signature=a&Signature=b=c&Signature=&Signature"), "/b/k?Signature=***&Signature=***&Signature=&Signature");
  EXPECT_EQ(Told("/b/k?Signature=a?Signature=b"), "/b/k?Signature=***");
}

}  // namespace
}  // namespace penstock::emulator::instruments
