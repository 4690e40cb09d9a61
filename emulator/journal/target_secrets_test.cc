#include "emulator/journal/target_secrets.h"

#include <gtest/gtest.h>

namespace penstock::emulator::journal {
namespace {

std::string Masked(std::string_view target) {
  std::string scratch = "left over";
  return std::string(WithoutSecrets(target, scratch));
}

TEST(TargetSecretsTest, KeepsTextsWithoutSecrets) {
  for (const char* target : {"/", "/bucket/key", "/b/k?", "/b?list-type=2&prefix=signatures/",
                             "/b?continuation-token=abc", "/b/design=1:2", "/b/k%", "/b/k%2",
                             "/b/100%25=1", "/b/k%20?versionId=1&&=&x", "*",
                             "/b?X-Amz-Credential=AKIA%2F20260102&X-Amz-Date=20260102T000000Z"}) {
    EXPECT_EQ(Masked(target), target);
  }
}

TEST(TargetSecretsTest, MasksSignaturesAndTokensOfPresignedUrls) {
  EXPECT_EQ(Masked("/b/"
                   "k?X-Amz-Algorithm=A&X-Amz-Security-Token=t0ken%2F&X-Amz-Expires=60&X-Amz-"
                   "Signature=0123abcd"),
            "/b/k?X-Amz-Algorithm=A&X-Amz-Security-Token=***&X-Amz-Expires=60&X-Amz-Signature=***");
  EXPECT_EQ(Masked("/b/k?X-Amz-Signature=0123&x-id=GetObject"),
            "/b/k?X-Amz-Signature=***&x-id=GetObject");
  EXPECT_EQ(Masked("/b/k?AWSAccessKeyId=AKIA&Signature=c2ln%3D&Expires=1"),
            "/b/k?AWSAccessKeyId=AKIA&Signature=***&Expires=1");
  EXPECT_EQ(Masked("/b/k?x-amz-s3session-token=t"), "/b/k?x-amz-s3session-token=***");
  EXPECT_EQ(Masked("/b/k?x-amz-server-side-encryption-customer-key=k"),
            "/b/k?x-amz-server-side-encryption-customer-key=***");
}

// A presigned URL with an encoded '?' is a key. Its signature is a secret nevertheless.
TEST(TargetSecretsTest, MasksSecretsAnywhere) {
  EXPECT_EQ(Masked("/b/k%3FX-Amz-Date=1&X-Amz-Signature=0123&x=1"),
            "/b/k%3FX-Amz-Date=1&X-Amz-Signature=***&x=1");
  EXPECT_EQ(Masked("/b/k%3FSignature%3Dabc%26Expires%3D1"), "/b/k%3FSignature%3D***%26Expires%3D1");
  EXPECT_EQ(Masked("/b?prefix=Signature=x"), "/b?prefix=Signature=***");
  EXPECT_EQ(Masked("/b?a=1;X-Amz-Security-Token=t&b=2"), "/b?a=1;X-Amz-Security-Token=***&b=2");
  EXPECT_EQ(Masked("http://user:password@host/b/k?a=1"), "http://***@host/b/k?a=1");
  EXPECT_EQ(Masked("/b/" + std::string(1000, 'x') + "-X-Amz-Signature=0123"),
            "/b/" + std::string(1000, 'x') + "-X-Amz-Signature=***");
}

TEST(TargetSecretsTest, MasksSecretsInHeaders) {
  std::string scratch;
  EXPECT_EQ(FreeTextWithoutSecrets("Boto3/1.44 md/Botocore#1.44 ua/2.1", scratch),
            "Boto3/1.44 md/Botocore#1.44 ua/2.1");
  EXPECT_EQ(FreeTextWithoutSecrets("agent/1 Authorization: AWS4-HMAC-SHA256 rest", scratch),
            "agent/1 Authorization: ***");
  EXPECT_EQ(FreeTextWithoutSecrets("agent/1 (aws_secret_access_key = hush)", scratch),
            "agent/1 (aws_secret_access_key = ***)");
  EXPECT_EQ(FreeTextWithoutSecrets("http://u:p@h/?X%2DAmz-Signature=0123", scratch),
            "http://***@h/?X%2DAmz-Signature=***");
}

TEST(TargetSecretsTest, MasksSecretsInAnyCaseAndEncoding) {
  EXPECT_EQ(Masked("/b/k?x-amz-SIGNATURE=0123"), "/b/k?x-amz-SIGNATURE=***");
  EXPECT_EQ(Masked("/b/k?X%2DAmz%2dSignature=0123"), "/b/k?X%2DAmz%2dSignature=***");
  EXPECT_EQ(Masked("/b/k?Signature=a&Signature=b=c&Signature=&Signature"),
            "/b/k?Signature=***&Signature=***&Signature=&Signature");
  EXPECT_EQ(Masked("/b/k?Signature=a?Signature=b"), "/b/k?Signature=***");
}

}  // namespace
}  // namespace penstock::emulator::journal
