#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class EncryptionRequestTest : public ::testing::Test {
 protected:
  EncryptionRequestTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& headers) { return s3_.Send("PUT /bucket/k\n" + headers, "x"); }
  Harness s3_;
};

// Texts recorded against Amazon S3: the empty value in aws-sdk-cpp#1771, the context in
// HADOOP-19197, the key without aws:kms in aws-cli#1431.
TEST_F(EncryptionRequestTest, InconsistentHeadersAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"x-amz-server-side-encryption: ", "The encryption method specified is not supported"},
      {"x-amz-server-side-encryption-aws-kms-key-id: alias/a",
       "Server Side Encryption with AWS KMS managed key requires HTTP header "
       "x-amz-server-side-encryption : aws:kms"},
      {"x-amz-server-side-encryption: AES256\nx-amz-server-side-encryption-aws-kms-key-id: alias/a",
       "Server Side Encryption with AWS KMS managed key requires HTTP header "
       "x-amz-server-side-encryption : aws:kms"},
      {"x-amz-server-side-encryption: aws:kms\nx-amz-server-side-encryption-context: {}",
       "The header 'x-amz-server-side-encryption-context' shall be Base64-encoded UTF-8 string "
       "holding JSON which represents "
       "a string-string map"},
      {"x-amz-server-side-encryption: aws:kms\nx-amz-server-side-encryption-bucket-key-enabled: "
       "maybe",
       "The value of this header must be 'true' or 'false'"},
  };
  for (const auto& [headers, message] : cases) {
    const Reply reply = Put(headers);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << headers;
    EXPECT_EQ(reply.Element("Message"), message) << headers;
    EXPECT_EQ(reply.body_bytes_read, 0u);
  }
}

TEST_F(EncryptionRequestTest, UnknownAlgorithmsAreReturnedInTheError) {
  for (const char* algorithm : {"rot13", "aes256", "aws:fsx"}) {
    const Reply reply = Put(std::string("x-amz-server-side-encryption: ") + algorithm);
    EXPECT_EQ(reply.Outcome(), "400 InvalidEncryptionAlgorithmError");
    EXPECT_EQ(reply.Element("Message"),
              "The Encryption request you specified is not valid. Supported value: AES256.");
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-server-side-encryption");
    EXPECT_EQ(reply.Element("ArgumentValue"), algorithm);
  }
}

TEST_F(EncryptionRequestTest, BucketDefaultAppliesWithoutHeaders) {
  s3_.SendDocument(
      "PUT /bucket?encryption",
      "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>"
      "aws:kms"
      "</SSEAlgorithm><KMSMasterKeyID>alias/b</KMSMasterKeyID></ApplyServerSideEncryptionByDefault>"
      "<BucketKeyEnabled>true</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>");
  const Reply silent = Put("x-amz-meta-a: 1");
  EXPECT_EQ(silent.Header("x-amz-server-side-encryption"), "aws:kms");
  EXPECT_EQ(silent.Header("x-amz-server-side-encryption-bucket-key-enabled"), "true");
  EXPECT_EQ(s3_.Send("POST /bucket/u?uploads").Header("x-amz-server-side-encryption"), "aws:kms");
  EXPECT_EQ(s3_.Send("PUT /bucket/c\nx-amz-copy-source: /bucket/k")
                .Header("x-amz-server-side-encryption"),
            "aws:kms");
  EXPECT_EQ(Put("x-amz-server-side-encryption: AES256").Header("x-amz-server-side-encryption"),
            "AES256");
  // aws:kms in a request uses the account's default key and the bucket's bucket key setting.
  const Reply own = Put("x-amz-server-side-encryption: aws:kms");
  EXPECT_NE(own.Header("x-amz-server-side-encryption-aws-kms-key-id"),
            silent.Header("x-amz-server-side-encryption-aws-kms-key-id"));
  EXPECT_EQ(own.Header("x-amz-server-side-encryption-bucket-key-enabled"), "true");
  EXPECT_EQ(Put("x-amz-server-side-encryption-bucket-key-enabled: false")
                .Header("x-amz-server-side-encryption-bucket-key-enabled"),
            "<absent>");
  // An invalid default fails when it is used.
  s3_.SendDocument("PUT /bucket?encryption",
                   "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><"
                   "SSEAlgorithm>aws:kms"
                   "</SSEAlgorithm><KMSMasterKeyID>aws/s3</KMSMasterKeyID></"
                   "ApplyServerSideEncryptionByDefault></Rule>"
                   "</ServerSideEncryptionConfiguration>");
  EXPECT_EQ(Put("x-amz-meta-a: 1").Outcome(), "400 KMS.NotFoundException");
}

}  // namespace
}  // namespace penstock::emulator::s3
