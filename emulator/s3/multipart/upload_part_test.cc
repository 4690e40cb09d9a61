#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Body;
using testing::Harness;
using testing::Reply;

class UploadPartTest : public ::testing::Test {
 protected:
  UploadPartTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/source", "0123456789");
  }
  std::string Target(const std::string& headers = "") {
    return "/bucket/k?uploadId=" + s3_.Send("POST /bucket/k?uploads" + headers).Element("UploadId");
  }
  Harness s3_;
};

TEST_F(UploadPartTest, ReturnsETagAndTheChecksumOfTheRequest) {
  const std::string target = Target();
  const Reply plain = s3_.Send("PUT " + target + "&partNumber=1", "hello");
  EXPECT_EQ(plain.Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(plain.Header("x-amz-checksum-crc64nvme"), "<absent>");
  const Reply sent =
      s3_.Send("PUT " + target + "&partNumber=1\nx-amz-checksum-crc32: NhCmhg==", "hello");
  EXPECT_EQ(sent.Header("x-amz-checksum-crc32"), "NhCmhg==");
  EXPECT_EQ(s3_.Send("PUT " + target + "&partNumber=2\nx-amz-checksum-crc32: NhCmhg==", "jello")
                .Outcome(),
            "400 BadDigest");
  EXPECT_EQ(s3_.Send("PUT " + target + "&partNumber=10000", "").Outcome(), "200");
}

TEST_F(UploadPartTest, NumbersAndLengthsAreChecked) {
  const std::string target = Target();
  for (const char* bad : {"0", "10001", "x", ""}) {
    const Reply reply = s3_.Send("PUT " + target + "&partNumber=" + bad, "x");
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << bad;
    EXPECT_EQ(reply.Element("Message"),
              "Part number must be an integer between 1 and 10000, inclusive");
  }
  EXPECT_EQ(s3_.Send("PUT " + target + "&partNumber=1", Body{.text = "x", .declare_length = false})
                .Outcome(),
            "411 MissingContentLength");
}

// A COMPOSITE upload requires the checksum of every part (decision 0025).
TEST_F(UploadPartTest, CompositeUploadsRequireEveryPartsChecksum) {
  const std::string target = Target("\nx-amz-checksum-algorithm: SHA256");
  EXPECT_EQ(s3_.Send("PUT " + target + "&partNumber=1\nx-amz-checksum-crc32: NhCmhg==", "hello")
                .Element("Message"),
            "Checksum Type mismatch occurred, expected checksum Type: sha256, actual checksum "
            "Type: crc32");
  const Reply none = s3_.Send("PUT " + target + "&partNumber=1", "hello");
  EXPECT_EQ(none.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(none.Element("Message"),
            "Checksum Type mismatch occurred, expected checksum Type: sha256, actual checksum "
            "Type: null");
  EXPECT_EQ(
      s3_.Send("PUT " + target + "&partNumber=1\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==", "hello")
          .Outcome(),
      "400 InvalidRequest");
  EXPECT_EQ(s3_.Send("GET " + target).Element("PartNumber"), "<absent>");
  const std::string sha = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
  EXPECT_EQ(s3_.Send("PUT " + target + "&partNumber=1\nx-amz-checksum-sha256: " + sha, "hello")
                .Header("x-amz-checksum-sha256"),
            sha);
}

// Recorded against Amazon S3: it computes missing checksums for the parts of a FULL_OBJECT upload.
TEST_F(UploadPartTest, FullObjectUploadsComputeMissingPartChecksums) {
  const std::string chosen =
      Target("\nx-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT");
  EXPECT_EQ(s3_.Send("PUT " + chosen + "&partNumber=1", "hello").Header("x-amz-checksum-crc32"),
            "NhCmhg==");
  EXPECT_EQ(
      s3_.Send("PUT " + chosen + "&partNumber=1\nx-amz-checksum-sha1: qvTGHdzF6KLavt4PO0gs2a6pQ00=",
               "hello")
          .Element("Message"),
      "Checksum Type mismatch occurred, expected checksum Type: crc32, actual checksum Type: sha1");
  const std::string only = Target("\nx-amz-checksum-algorithm: CRC64NVME");
  EXPECT_EQ(s3_.Send("PUT " + only + "&partNumber=1", "hello").Header("x-amz-checksum-crc64nvme"),
            "M3eFcAZSQlc=");
}

TEST_F(UploadPartTest, UploadPartCopyCopiesRanges) {
  const std::string target = Target("\nx-amz-checksum-algorithm: CRC32");
  const std::string request = "PUT " + target + "&partNumber=1\nx-amz-copy-source: /bucket/source";
  const Reply whole = s3_.Send(request);
  EXPECT_EQ(whole.Element("ETag"), "&quot;781e5e245d69b566979b86e28d23f2c7&quot;");
  const Reply range = s3_.Send(request + "\nx-amz-copy-source-range: bytes=1-9");
  EXPECT_EQ(range.Outcome(), "200");
  // MD5 of "123456789".
  EXPECT_EQ(range.Element("ETag"), "&quot;25f9e794323b453885f5181f1b624d0b&quot;");
  EXPECT_EQ(range.Element("ChecksumCRC32"), "y/Q5Jg==");  // CRC32 of "123456789".
  EXPECT_EQ(range.Element("LastModified"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(s3_.Send("GET " + target).Element("Size"), "9");
  EXPECT_EQ(s3_.Send(request + "\nx-amz-copy-source-range: bytes=0-100").Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(s3_.Send(request + "\nx-amz-copy-source-range: bytes=100-200").Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(s3_.Send(request + "\nx-amz-copy-source-if-match: other").Outcome(),
            "412 PreconditionFailed");
}

}  // namespace
}  // namespace penstock::emulator::s3
