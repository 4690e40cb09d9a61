#include "emulator/s3/encryption/bucket_encryption.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

std::string Configuration(const std::string& rules) {
  return "<ServerSideEncryptionConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
         rules + "</ServerSideEncryptionConfiguration>";
}
std::string Rule(const std::string& inner) {
  return "<Rule><ApplyServerSideEncryptionByDefault>" + inner +
         "</ApplyServerSideEncryptionByDefault></Rule>";
}

class BucketEncryptionTest : public ::testing::Test {
 protected:
  BucketEncryptionTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& rules) {
    return s3_.SendDocument("PUT /bucket?encryption", Configuration(rules));
  }
  Harness s3_;
};

// Default encryption is always on.
TEST_F(BucketEncryptionTest, UnsetAndDeletedIsAes256) {
  const std::string unset = s3_.Send("GET /bucket?encryption").body;
  EXPECT_EQ(unset,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ServerSideEncryptionConfiguration "
            "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/"
            "\"><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256"
            "</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</"
            "BucketKeyEnabled></Rule>"
            "</ServerSideEncryptionConfiguration>");
  EXPECT_EQ(Put(Rule("<SSEAlgorithm>aws:kms</SSEAlgorithm>")).Outcome(), "200");
  EXPECT_NE(s3_.Send("GET /bucket?encryption").body, unset);
  EXPECT_EQ(s3_.Send("DELETE /bucket?encryption").Outcome(), "204");
  EXPECT_EQ(s3_.Send("DELETE /bucket?encryption").Outcome(), "204");
  EXPECT_EQ(s3_.Send("GET /bucket?encryption").body, unset);
}

TEST_F(BucketEncryptionTest, StoredConfigurationsAreReturned) {
  Put("<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms:dsse</"
      "SSEAlgorithm><KMSMasterKeyID>k&amp;y"
      "</KMSMasterKeyID></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>true</"
      "BucketKeyEnabled>"
      "<BlockedEncryptionTypes><EncryptionType>NONE</EncryptionType></BlockedEncryptionTypes></"
      "Rule>");
  const Reply get = s3_.Send("GET /bucket?encryption");
  EXPECT_EQ(get.Header("Content-Type"), "application/xml");
  EXPECT_EQ(get.Element("SSEAlgorithm"), "aws:kms:dsse");
  EXPECT_EQ(get.Element("KMSMasterKeyID"), "k&amp;y");
  EXPECT_EQ(get.Element("BucketKeyEnabled"), "true");
  EXPECT_EQ(get.Element("EncryptionType"), "NONE");
}

// Recorded against Amazon S3 (LocalStack's test_s3_default_bucket_encryption_exc, 2026-02).
TEST_F(BucketEncryptionTest, InvalidDocumentsAreRefused) {
  const std::string aes = "<SSEAlgorithm>AES256</SSEAlgorithm>";
  for (const std::string& rules :
       {std::string(), Rule(aes) + Rule(aes), Rule("<SSEAlgorithm>rot13</SSEAlgorithm>"), Rule(""),
        std::string("<Rule/>"),
        "<Rule><ApplyServerSideEncryptionByDefault>" + aes +
            "</ApplyServerSideEncryptionByDefault><BucketKeyEnabled>x</BucketKeyEnabled></Rule>",
        "<Rule><ApplyServerSideEncryptionByDefault>" + aes +
            "</ApplyServerSideEncryptionByDefault><Bogus/></Rule>",
        Rule(aes + aes),
        std::string("<Rule><BlockedEncryptionTypes><EncryptionType>AES256</EncryptionType></"
                    "BlockedEncryptionTypes></Rule>")}) {
    EXPECT_EQ(Put(rules).Outcome(), "400 MalformedXML") << rules;
  }
  const Reply key = Put(Rule(aes + "<KMSMasterKeyID>k</KMSMasterKeyID>"));
  EXPECT_EQ(key.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(key.Element("ArgumentName"), "ApplyServerSideEncryptionByDefault");
  EXPECT_EQ(key.Element("Message"),
            "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or "
            "aws:kms:dsse");
  EXPECT_EQ(s3_.SendDocument("PUT /absent?encryption", Configuration("")).Outcome(),
            "404 NoSuchBucket");
  // Missing checksum.
  EXPECT_EQ(s3_.Send("PUT /bucket?encryption", Configuration(Rule(aes))).Outcome(),
            "400 InvalidRequest");
}

TEST_F(BucketEncryptionTest, BlockedCustomerKeysAreDenied) {
  Put("<Rule><BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></"
      "BlockedEncryptionTypes></Rule>");
  const std::string key =
      "x-amz-server-side-encryption-customer-algorithm: AES256\n"
      "x-amz-server-side-encryption-customer-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"
      "x-amz-server-side-encryption-customer-key-MD5: ";
  const std::string md5 = Base64Encode(Md5(AsBytes("01234567890123456789012345678901")));
  EXPECT_EQ(s3_.Send("PUT /bucket/k\n" + key + md5, "x").Outcome(), "403 AccessDenied");
  EXPECT_EQ(s3_.Send("PUT /bucket/k", "x").Outcome(), "200");
  Put(Rule("<SSEAlgorithm>aws:kms</SSEAlgorithm>"));
  EXPECT_EQ(s3_.Send("GET /bucket?encryption").Element("EncryptionType"), "SSE-C");
  EXPECT_EQ(s3_.Send("PUT /bucket/k\n" + key + md5, "x").Outcome(), "403 AccessDenied");
  Put("<Rule><BlockedEncryptionTypes><EncryptionType>NONE</EncryptionType></"
      "BlockedEncryptionTypes></Rule>");
  EXPECT_EQ(s3_.Send("PUT /bucket/k\n" + key + md5, "x").Outcome(), "200");
}

}  // namespace
}  // namespace penstock::emulator::s3
