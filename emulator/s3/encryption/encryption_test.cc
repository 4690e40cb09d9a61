#include "emulator/s3/encryption/encryption.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

constexpr char kSse[] = "x-amz-server-side-encryption";
constexpr char kKeyId[] = "x-amz-server-side-encryption-aws-kms-key-id";
constexpr char kBucketKey[] = "x-amz-server-side-encryption-bucket-key-enabled";
constexpr char kContext[] = "x-amz-server-side-encryption-context";
constexpr char kUuid[] = "1234abcd-12ab-34cd-56ef-1234567890ab";

class EncryptionTest : public ::testing::Test {
 protected:
  EncryptionTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& headers) { return s3_.Send("PUT /bucket/k\n" + headers, "hello"); }
  Harness s3_;
};

TEST_F(EncryptionTest, StoredEncryptionReadsBackUnchanged) {
  Encryption kms;
  kms.kind = EncryptionKind::kKms;
  kms.kms_key_arn = "arn";
  kms.kms_context = "e30=";
  kms.bucket_key = true;
  Encryption customer;
  customer.kind = EncryptionKind::kCustomer;
  customer.customer_key_proof = "proof";
  for (const Encryption& encryption : {Encryption{}, kms, customer}) {
    store::Attributes attributes{{"Content-Type", "a/b"}};
    StoreEncryption(encryption, attributes);
    const Encryption back = StoredEncryption(attributes);
    EXPECT_EQ(back.kind, encryption.kind);
    EXPECT_EQ(back.kms_key_arn, encryption.kms_key_arn);
    EXPECT_EQ(back.kms_context, encryption.kms_context);
    EXPECT_EQ(back.bucket_key, encryption.bucket_key);
    EXPECT_EQ(back.customer_key_proof, encryption.customer_key_proof);
  }
  store::Attributes none;
  StoreEncryption({}, none);
  EXPECT_TRUE(none.empty());
}

// The headers of PutObject and GetObject, and an ETag that is not the MD5.
TEST_F(EncryptionTest, KmsObjectsReturnTheirKeyAndHaveAnOpaqueETag) {
  const std::string arn = std::string("arn:aws:kms:us-east-1:123456789012:key/") + kUuid;
  const Reply put = Put(
      std::string(
          "x-amz-server-side-encryption: aws:kms\nx-amz-server-side-encryption-aws-kms-key-id: ") +
      kUuid +
      "\nx-amz-server-side-encryption-bucket-key-enabled: true\n"
      "x-amz-server-side-encryption-context: eyJhIjoiYiJ9");
  ASSERT_EQ(put.Outcome(), "200");
  EXPECT_EQ(put.Header(kSse), "aws:kms");
  EXPECT_EQ(put.Header(kKeyId), arn);
  EXPECT_EQ(put.Header(kBucketKey), "true");
  EXPECT_EQ(put.Header(kContext), "eyJhIjoiYiJ9");
  EXPECT_EQ(put.Header("ETag").size(), 34u);
  EXPECT_NE(put.Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(put.Header("x-amz-checksum-crc64nvme"), "M3eFcAZSQlc=");
  for (const char* method : {"GET", "HEAD"}) {
    const Reply read = s3_.Send(std::string(method) + " /bucket/k");
    EXPECT_EQ(read.Header(kSse), "aws:kms");
    EXPECT_EQ(read.Header(kKeyId), arn);
    EXPECT_EQ(read.Header(kBucketKey), "true");
    EXPECT_EQ(read.Header(kContext), "<absent>");
    EXPECT_EQ(read.Header("ETag"), put.Header("ETag"));
  }
  EXPECT_EQ(s3_.Send("GET /bucket/k\nIf-Match: " + put.Header("ETag")).body, "hello");
  EXPECT_EQ(Put("x-amz-server-side-encryption: aws:kms:dsse").Header(kSse), "aws:kms:dsse");
}

// Content-MD5 is verified although the ETag does not need it.
TEST_F(EncryptionTest, ContentMd5IsVerifiedWithKms) {
  EXPECT_EQ(
      Put("x-amz-server-side-encryption: aws:kms\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==").Outcome(),
      "200");
  EXPECT_EQ(
      Put("x-amz-server-side-encryption: aws:kms\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==").Outcome(),
      "400 BadDigest");
}

TEST_F(EncryptionTest, KeysAreFoundByIdArnOrAlias) {
  const std::string ask =
      "x-amz-server-side-encryption: aws:kms\nx-amz-server-side-encryption-aws-kms-key-id: ";
  const std::string arn = std::string("arn:aws:kms:us-east-1:999988887777:key/") + kUuid;
  EXPECT_EQ(Put(ask + arn).Header(kKeyId), arn);
  const std::string alias = Put(ask + "alias/mine").Header(kKeyId);
  EXPECT_EQ(alias.rfind("arn:aws:kms:us-east-1:123456789012:key/", 0), 0u);
  EXPECT_EQ(alias.size(), arn.size());
  EXPECT_EQ(Put(ask + "alias/mine").Header(kKeyId), alias);
  EXPECT_EQ(Put(ask + "arn:aws:kms:us-east-1:123456789012:alias/mine").Header(kKeyId), alias);
  EXPECT_NE(Put(ask + "alias/other").Header(kKeyId), alias);
  EXPECT_EQ(Put(ask + "alias/aws/s3").Header(kKeyId),
            Put("x-amz-server-side-encryption: aws:kms").Header(kKeyId));
  const std::string mrk = "mrk-1234abcd12ab34cd56ef1234567890ab";
  EXPECT_TRUE(Put(ask + mrk).Header(kKeyId).ends_with("key/" + mrk));
  // Texts recorded against Amazon S3 (LocalStack's snapshots, 2026-02).
  const Reply fake = Put(ask + "fake-key-id");
  EXPECT_EQ(fake.Outcome(), "400 KMS.NotFoundException");
  EXPECT_EQ(fake.Element("Message"), "Invalid keyId 'fake-key-id'");
  EXPECT_EQ(Put(ask + "arn:aws:kms:us-west-2:123456789012:key/" + kUuid).Element("Message"),
            "Invalid arn us-west-2");
  EXPECT_EQ(Put(ask + "arn:aws:kms:us-east-1").Outcome(), "400 KMS.NotFoundException");
}

// S3 refuses encryption headers that an operation does not accept, instead of ignoring them.
TEST_F(EncryptionTest, MisplacedHeadersAreRefused) {
  Put("x-amz-server-side-encryption: AES256");
  const Reply get = s3_.Send("GET /bucket/k\nX-Amz-Server-Side-Encryption: AES256");
  EXPECT_EQ(get.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(get.Element("Message"),
            "x-amz-server-side-encryption header is not supported for this operation.");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k\nx-amz-server-side-encryption: aws:kms").status, 400);
  EXPECT_EQ(s3_.Send("DELETE /bucket/k\nx-amz-server-side-encryption-customer-algorithm: AES256")
                .Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(
      s3_.Send("GET /bucket/k\nx-amz-copy-source-server-side-encryption-customer-algorithm: AES256")
          .Outcome(),
      "400 InvalidArgument");
  const std::string id = s3_.Send("POST /bucket/u?uploads").Element("UploadId");
  EXPECT_EQ(s3_.Send("PUT /bucket/u?partNumber=1&uploadId=" + id +
                         "\nx-amz-server-side-encryption: AES256",
                     "x")
                .Outcome(),
            "400 InvalidArgument");
  const Reply secret =
      s3_.Send("DELETE /bucket/k\nx-amz-server-side-encryption-customer-key: c2VjcmV0");
  EXPECT_EQ(secret.body.find("c2VjcmV0"), std::string::npos);
}

// Copies do not keep the encryption of their source.
TEST_F(EncryptionTest, CopiesUseTheEncryptionOfTheRequest) {
  Put("x-amz-server-side-encryption: aws:kms");
  const Reply plain = s3_.Send("PUT /bucket/plain\nx-amz-copy-source: /bucket/k");
  EXPECT_EQ(plain.Header(kSse), "AES256");
  EXPECT_EQ(plain.Element("ETag"), "&quot;5d41402abc4b2a76b9719d911017c592&quot;");
  const Reply kms = s3_.Send(
      "PUT /bucket/kms\nx-amz-copy-source: /bucket/plain\nx-amz-server-side-encryption: aws:kms");
  EXPECT_EQ(kms.Header(kSse), "aws:kms");
  EXPECT_NE(kms.Element("ETag"), plain.Element("ETag"));
  EXPECT_EQ(s3_.Send("HEAD /bucket/plain").Header(kSse), "AES256");
  // A copy to itself is allowed, because the encryption changes.
  EXPECT_EQ(s3_.Send("PUT /bucket/plain\nx-amz-copy-source: "
                     "/bucket/plain\nx-amz-server-side-encryption: aws:kms")
                .Header(kSse),
            "aws:kms");
}

TEST_F(EncryptionTest, UploadsDetermineTheEncryptionOfTheObject) {
  const Reply create = s3_.Send(
      "POST /bucket/u?uploads\nx-amz-server-side-encryption: aws:kms\n"
      "x-amz-server-side-encryption-context: e30=");
  EXPECT_EQ(create.Header(kSse), "aws:kms");
  EXPECT_EQ(create.Header(kContext), "e30=");
  const std::string where = "/bucket/u?uploadId=" + create.Element("UploadId");
  const Reply part = s3_.Send("PUT " + where + "&partNumber=1", "hello");
  EXPECT_EQ(part.Header(kSse), "aws:kms");
  EXPECT_EQ(part.Header(kKeyId), create.Header(kKeyId));
  EXPECT_NE(part.Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  const std::string document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               part.Header("ETag") + "</ETag></Part></CompleteMultipartUpload>";
  const Reply complete = s3_.Send("POST " + where, document);
  EXPECT_EQ(complete.Outcome(), "200");
  EXPECT_EQ(complete.Header(kSse), "aws:kms");
  EXPECT_EQ(s3_.Send("HEAD /bucket/u").Header(kKeyId), create.Header(kKeyId));
  EXPECT_EQ(s3_.Send("POST " + where, document).Header(kSse), "aws:kms");
}

TEST(OpaqueETagTest, IsDifferentEachTime) {
  EXPECT_EQ(OpaqueETag().value.size(), 32u);
  EXPECT_NE(OpaqueETag(), OpaqueETag());
}

}  // namespace
}  // namespace penstock::emulator::s3
