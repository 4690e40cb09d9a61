#include "emulator/api/checksums.h"

#include <gtest/gtest.h>

namespace penstock::emulator::api {
namespace {

std::string Digest(ChecksumAlgorithm algorithm, std::string_view text) {
  ChecksumDigester digester(algorithm);
  digester.Update(AsBytes(text.substr(0, 3)));
  digester.Update(AsBytes(text.substr(3)));
  return digester.Finish();
}

// Spec §6.3, row "123456789".
TEST(ChecksumsTest, ValuesAreBase64OfTheBigEndianDigest) {
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc32, "123456789"), "y/Q5Jg==");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc32c, "123456789"), "4waSgw==");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc64Nvme, "123456789"), "rosUhgp5mIg=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kSha1, "123456789"), "98O8HYCOBHMq32eZZczDTKeuNEE=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kSha256, "123456789"), "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
}

// Spec §6.3 "Multipart vector": 5 MiB of 'a', then "hello".
TEST(ChecksumsTest, PartsJoinAsRecorded) {
  const std::uint64_t first = 5u << 20;
  struct Case {
    ChecksumAlgorithm algorithm;
    const char* parts[2];
    const char* composite;  // nullptr: not allowed
    const char* full;
  };
  const Case cases[] = {
      {ChecksumAlgorithm::kCrc32, {"r/zBbw==", "NhCmhg=="}, "QaduHg==-2", "dsLl6w=="},
      {ChecksumAlgorithm::kCrc32c, {"WpuOeg==", "mnG7TA=="}, "QYpdNA==-2", "vzdZqA=="},
      {ChecksumAlgorithm::kCrc64Nvme, {"PbvLEkWUSgg=", "M3eFcAZSQlc="}, nullptr, "xrqTozlh+bk="},
      {ChecksumAlgorithm::kSha1,
       {"YbjWYArJTZEodPVpqTQRIPaAyfg=", "qvTGHdzF6KLavt4PO0gs2a6pQ00="},
       "Sc9786yoTVGaHVddVcFc/41FQ9k=-2",
       nullptr},
      {ChecksumAlgorithm::kSha256,
       {"oplo+tLngqqfIECjXwWtuX7Yl56x9XLIyOp4Y34nXzw=", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},
       "SgR6J2QpUvtxUG056/fVnydfChjAOF9iE6spWAp//X8=-2",
       nullptr},
  };
  for (const Case& c : cases) {
    const std::vector<PartChecksum> parts{{c.parts[0], first}, {c.parts[1], 5}};
    const ChecksumInfo& info = InfoOf(c.algorithm);
    EXPECT_EQ(info.composite, c.composite != nullptr) << info.name;
    EXPECT_EQ(info.full_object, c.full != nullptr) << info.name;
    if (c.composite) {
      EXPECT_EQ(CompositeChecksum(c.algorithm, parts), c.composite) << info.name;
    }
    if (c.full) {
      EXPECT_EQ(FullObjectChecksum(c.algorithm, parts), c.full) << info.name;
    }
  }
}

TEST(ChecksumsTest, HiddenPartValuesComeBack) {
  const std::string hidden = HiddenPartChecksum("PbvLEkWUSgg=");
  EXPECT_TRUE(IsHiddenPartChecksum(hidden));
  EXPECT_EQ(RevealPartChecksum(hidden), "PbvLEkWUSgg=");
  EXPECT_FALSE(IsHiddenPartChecksum("PbvLEkWUSgg="));
  EXPECT_EQ(RevealPartChecksum("PbvLEkWUSgg="), "PbvLEkWUSgg=");
}

TEST(ChecksumsTest, AlgorithmsAreFoundByNameAndHeader) {
  EXPECT_EQ(FindChecksum("CRC32C")->algorithm, ChecksumAlgorithm::kCrc32c);
  EXPECT_EQ(FindChecksumHeader("X-Amz-Checksum-SHA256")->algorithm, ChecksumAlgorithm::kSha256);
  EXPECT_EQ(FindChecksum("crc32c"), nullptr);
  EXPECT_EQ(FindChecksum(""), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::api
