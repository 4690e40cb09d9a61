#include <gtest/gtest.h>

#include "base/encoding.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kKey =
    "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";

class UpdateEncryptionTest : public ::testing::Test {
 protected:
  UpdateEncryptionTest() { s3_.Send("PUT /bucket"); }
  Reply Update(const std::string& content, const std::string& target = "/bucket/k?encryption") {
    return s3_.SendDocument("PUT " + target,
                            "<ObjectEncryption>" + content + "</ObjectEncryption>");
  }
  static std::string Kms(const std::string& arn, const std::string& more = "") {
    return "<SSE-KMS><KMSKeyArn>" + arn + "</KMSKeyArn>" + more + "</SSE-KMS>";
  }
  Harness s3_;
};

// Amazon S3 API Reference: only the encryption changes.
TEST_F(UpdateEncryptionTest, OnlyTheEncryptionChanges) {
  s3_.Send("PUT /bucket/k\nContent-Type: a/b\nx-amz-meta-a: b", "body");
  const Reply before = s3_.Send("GET /bucket/k\nx-amz-checksum-mode: ENABLED");
  s3_.clock().Advance(std::chrono::hours(1));
  ASSERT_EQ(Update(Kms(kKey, "<BucketKeyEnabled>true</BucketKeyEnabled>")).Outcome(), "200");
  const Reply after = s3_.Send("GET /bucket/k\nx-amz-checksum-mode: ENABLED");
  EXPECT_EQ(after.Header("x-amz-server-side-encryption"), "aws:kms");
  EXPECT_EQ(after.Header("x-amz-server-side-encryption-aws-kms-key-id"), kKey);
  EXPECT_EQ(after.Header("x-amz-server-side-encryption-bucket-key-enabled"), "true");
  EXPECT_EQ(after.body, "body");
  for (const char* header :
       {"ETag", "Last-Modified", "Content-Type", "x-amz-meta-a", "x-amz-checksum-crc64nvme"}) {
    EXPECT_EQ(after.Header(header), before.Header(header)) << header;
  }
  ASSERT_EQ(Update(Kms(kKey)).Outcome(), "200") << "from SSE-KMS, too";
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-server-side-encryption-bucket-key-enabled"),
            "<absent>");
}

TEST_F(UpdateEncryptionTest, RequestsWithoutAKeyArnAreRefused) {
  s3_.Send("PUT /bucket/k", "body");
  EXPECT_EQ(Update("").Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Update("<SSE-S3/>").Outcome(), "400 MalformedXML");
  EXPECT_EQ(Update(Kms("")).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Update(Kms("alias/mine")).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Update(Kms("arn:aws:kms:us-east-1:123456789012:alias/mine")).Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(
      Update(Kms("arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"))
          .Outcome(),
      "400 KMS.NotFoundException");
  EXPECT_EQ(
      Update(Kms("arn:aws:kms:us-east-1:210987654321:key/01234567-89ab-cdef-0123-456789abcdef"))
          .Outcome(),
      "403 AccessDenied");
  EXPECT_EQ(s3_.Send("PUT /bucket/k?encryption", "<ObjectEncryption/>").Outcome(),
            "400 InvalidRequest")
      << "missing checksum";
  EXPECT_EQ(Update(Kms(kKey), "/bucket/absent?encryption").Outcome(), "404 NoSuchKey");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-server-side-encryption"), "AES256");
}

TEST_F(UpdateEncryptionTest, OtherEncryptionsAndLockedObjectsAreRefused) {
  s3_.Send("PUT /bucket/dual\nx-amz-server-side-encryption: aws:kms:dsse", "body");
  EXPECT_EQ(Update(Kms(kKey), "/bucket/dual?encryption").Outcome(), "400 InvalidRequest");
  s3_.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  s3_.SendDocument("PUT /locked/k\nx-amz-object-lock-legal-hold: ON", "body");
  EXPECT_EQ(Update(Kms(kKey), "/locked/k?encryption").Outcome(), "403 AccessDenied");
  s3_.SendDocument("PUT /locked/k?legal-hold", "<LegalHold><Status>OFF</Status></LegalHold>");
  EXPECT_EQ(Update(Kms(kKey), "/locked/k?encryption").Outcome(), "200");
}

}  // namespace
}  // namespace penstock::emulator::s3
