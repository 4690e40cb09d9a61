#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class MultipartTest : public ::testing::Test {
 protected:
  MultipartTest() { s3_.Send("PUT /bucket"); }
  Reply Create(const std::string& headers) {
    return s3_.Send("POST /bucket/k?uploads\n" + headers);
  }
  Harness s3_;
};

TEST_F(MultipartTest, CreateReturnsIdAndChecksumType) {
  const Reply plain = s3_.Send("POST /bucket/k?uploads");
  EXPECT_EQ(plain.Element("Bucket"), "bucket");
  EXPECT_EQ(plain.Element("Key"), "k");
  EXPECT_GE(plain.Element("UploadId").size(), 32u);
  EXPECT_EQ(plain.Header("x-amz-checksum-algorithm"), "<absent>");
  EXPECT_EQ(plain.Header("x-amz-server-side-encryption"), "AES256");
  const std::pair<const char*, const char*> defaults[] = {
      {"CRC32", "COMPOSITE"},    {"CRC32C", "COMPOSITE"},   {"CRC64NVME", "FULL_OBJECT"},
      {"SHA1", "COMPOSITE"},     {"SHA256", "COMPOSITE"},   {"SHA512", "COMPOSITE"},
      {"MD5", "COMPOSITE"},      {"XXHASH64", "COMPOSITE"}, {"XXHASH3", "COMPOSITE"},
      {"XXHASH128", "COMPOSITE"}};
  for (const auto& [algorithm, type] : defaults) {
    const Reply reply = Create(std::string("x-amz-checksum-algorithm: ") + algorithm);
    EXPECT_EQ(reply.Header("x-amz-checksum-algorithm"), algorithm);
    EXPECT_EQ(reply.Header("x-amz-checksum-type"), type) << algorithm;
  }
}

TEST_F(MultipartTest, CreateRefusesUnsupportedChecksumPairs) {
  const std::pair<const char*, const char*> cases[] = {
      {"x-amz-checksum-algorithm: FOO",
       "Checksum algorithm provided is unsupported. Please try again with any of the valid types: "
       "[CRC32, CRC32C, "
       "CRC64NVME, MD5, SHA1, SHA256, SHA512, XXHASH128, XXHASH3, XXHASH64]"},
      {"x-amz-checksum-type: COMPOSITE",
       "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header."},
      {"x-amz-checksum-algorithm: CRC64NVME\nx-amz-checksum-type: COMPOSITE",
       "The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm."},
      {"x-amz-checksum-algorithm: SHA256\nx-amz-checksum-type: FULL_OBJECT",
       "The FULL_OBJECT checksum type cannot be used with the sha256 checksum algorithm."}};
  for (const auto& [headers, message] : cases) {
    const Reply reply = Create(headers);
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << headers;
    EXPECT_EQ(reply.Element("Message"), message);
  }
}

TEST_F(MultipartTest, AbortRemovesTheUpload) {
  const std::string id = s3_.Send("POST /bucket/k?uploads").Element("UploadId");
  EXPECT_EQ(s3_.Send("DELETE /bucket/k?uploadId=" + id).Outcome(), "204");
  for (const char* method : {"DELETE", "GET"}) {
    const Reply reply = s3_.Send(std::string(method) + " /bucket/k?uploadId=" + id);
    EXPECT_EQ(reply.Outcome(), "404 NoSuchUpload") << method;
    EXPECT_EQ(reply.Element("UploadId"), id);
  }
  EXPECT_EQ(s3_.Send("PUT /bucket/k?partNumber=1&uploadId=" + id, "x").Outcome(),
            "404 NoSuchUpload");
}

}  // namespace
}  // namespace penstock::emulator::s3
