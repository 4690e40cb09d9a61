#include "emulator/s3/checksums/body.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class BodyTest : public ::testing::Test {
 protected:
  BodyTest() { s3_.Send("PUT /bucket"); }
  Harness s3_;
};

TEST_F(BodyTest, ContentMd5IsVerified) {
  EXPECT_EQ(s3_.Send("PUT /bucket/k\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==", "hello").Outcome(),
            "200");
  for (const char* bad : {"XUFAKrxLKna5cZ2REBfF", "not base64!", "XUFAKrxLKna5cZ2REBfFkg"}) {
    const Reply reply = s3_.Send(std::string("PUT /bucket/bad\nContent-MD5: ") + bad, "hello");
    EXPECT_EQ(reply.Outcome(), "400 InvalidDigest") << bad;
    EXPECT_EQ(reply.Element("Content-MD5"), bad);
  }
  const Reply wrong = s3_.Send("PUT /bucket/bad\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==", "hello");
  EXPECT_EQ(wrong.Outcome(), "400 BadDigest");
  EXPECT_EQ(wrong.Element("Message"),
            "The Content-MD5 you specified did not match what we received.");
  EXPECT_EQ(wrong.Element("CalculatedDigest"), "XUFAKrxLKna5cZ2REBfFkg==");
  // Hexadecimal for PutObject.
  EXPECT_EQ(wrong.Element("ExpectedDigest"), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(s3_.Send("HEAD /bucket/bad").status, 404);
}

// Bodies over 1 MiB are processed by two threads.
TEST_F(BodyTest, LargeBodiesAreHashedAndStored) {
  std::string body;
  for (int i = 0; body.size() < (3u << 20); ++i) body += std::to_string(i) + ",";
  const std::string md5 = HexEncode(Md5(AsBytes(body)));
  EXPECT_EQ(s3_.Send("PUT /bucket/plain", body).Header("ETag"), "\"" + md5 + "\"");
  EXPECT_TRUE(s3_.Send("GET /bucket/plain").body == body);
  const Reply encrypted = s3_.Send("PUT /bucket/kms\nx-amz-server-side-encryption: aws:kms", body);
  EXPECT_EQ(encrypted.Outcome(), "200");
  EXPECT_NE(encrypted.Header("ETag"), "\"" + md5 + "\"");
  EXPECT_TRUE(s3_.Send("GET /bucket/kms").body == body);
  EXPECT_EQ(s3_.Send("PUT /bucket/bad\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==", body).Outcome(),
            "400 BadDigest");
  EXPECT_EQ(s3_.Send("PUT /bucket/bad\nx-amz-checksum-crc32: AAAAAA==", body).Outcome(),
            "400 BadDigest");
  EXPECT_EQ(s3_.Send("HEAD /bucket/bad").status, 404);
}

TEST_F(BodyTest, UploadPartReturnsTheExpectedDigestInBase64) {
  const std::string id = s3_.Send("POST /bucket/k?uploads").Element("UploadId");
  const Reply wrong = s3_.Send(
      "PUT /bucket/k?partNumber=1&uploadId=" + id + "\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==",
      "hello");
  EXPECT_EQ(wrong.Outcome(), "400 BadDigest");
  EXPECT_EQ(wrong.Element("ExpectedDigest"), "1B2M2Y8AsgTpgAmY7PhCfg==");
}

TEST_F(BodyTest, DocumentsAreVerifiedAndLimited) {
  const std::string document = "<Delete><Object><Key>k</Key></Object></Delete>";
  EXPECT_EQ(
      s3_.Send("POST /bucket?delete\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==", document).Outcome(),
      "400 BadDigest");
  EXPECT_EQ(s3_.Send("POST /bucket?delete\nx-amz-checksum-crc32: AAAAAA==", document).Outcome(),
            "400 BadDigest");
  const Reply large = s3_.Send("PUT /other", std::string((2u << 20) + 1, ' '));
  EXPECT_EQ(large.Outcome(), "400 MaxMessageLengthExceeded");
  EXPECT_EQ(large.Element("MaxMessageLengthBytes"), "2097152");
}

// 66560 times 'a', read over several slices.
TEST_F(BodyTest, DigestContentDigestsTheRange) {
  s3_.Send("PUT /bucket/k", "xx" + std::string(66'560, 'a') + "yy");
  const auto object = s3_.store().FindObject(BucketName("bucket"), ObjectKey("k"));
  ASSERT_TRUE(object.ok());
  RequestHead head;
  Connection connection;
  const Exchange exchange{head, connection};
  const auto digests = DigestContent(exchange, (*object)->content, {2, 66'562},
                                     {.algorithm = ChecksumAlgorithm::kCrc32c});
  ASSERT_TRUE(digests.ok());
  EXPECT_EQ(digests->checksum, "sOO8/Q==");
  EXPECT_EQ(Base64Encode(AsBytes(digests->md5)), "2g0uF81ajxRjPGtK661+Ag==");
}

}  // namespace
}  // namespace penstock::emulator::s3
