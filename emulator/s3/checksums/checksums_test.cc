#include "emulator/s3/checksums/checksums.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

std::string Digest(ChecksumAlgorithm algorithm, std::string_view text) {
  ChecksumDigester digester(algorithm);
  digester.Update(AsBytes(text.substr(0, 3)));
  digester.Update(AsBytes(text.substr(3)));
  return digester.Finish();
}

// Check values of "123456789".
TEST(ChecksumsTest, ValuesAreBase64OfTheBigEndianDigest) {
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc32, "123456789"), "y/Q5Jg==");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc32c, "123456789"), "4waSgw==");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kCrc64Nvme, "123456789"), "rosUhgp5mIg=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kSha1, "123456789"), "98O8HYCOBHMq32eZZczDTKeuNEE=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kSha256, "123456789"),
            "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kMd5, "123456789"), "JfnnlDI7RTiF9RgfG2JNCw==");
  // Computed with Python's hashlib.
  EXPECT_EQ(
      Digest(ChecksumAlgorithm::kSha512, "123456789"),
      "2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==");
  // The xxHash values were computed with awscrt 0.38.1, which botocore uses.
  EXPECT_EQ(Digest(ChecksumAlgorithm::kXxhash64, "123456789"), "jLhB20DmroM=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kXxhash3, "123456789"), "ctyxi2ehff8=");
  EXPECT_EQ(Digest(ChecksumAlgorithm::kXxhash128, "123456789"), "MxGUd+3l3NXpcWQnaB1YYA==");
}

// 5 MiB of 'a', then "hello".
TEST(ChecksumsTest, PartsCombineAsRecorded) {
  const std::uint64_t first = 5u << 20;
  struct Case {
    ChecksumAlgorithm algorithm;
    const char* parts[2];
    const char* composite;  // nullptr: not supported.
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
       {"oplo+tLngqqfIECjXwWtuX7Yl56x9XLIyOp4Y34nXzw=",
        "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},
       "SgR6J2QpUvtxUG056/fVnydfChjAOF9iE6spWAp//X8=-2",
       nullptr},
      // The other values were computed with hashlib and awscrt from the same parts.
      {ChecksumAlgorithm::kSha512,
       {"dG/apTY4zOym1QXc+SnT+n6yiLzvGpvzC+vzf3jfumP2uDUBPETzj+18ptxibqHPpNa7fYUMWQ+MkqZiZAcs+g==",
        "m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="},
       "5qMsnwzgbO+wPxsr/oRwwl8vO26pL8XREd5CKuTW1OSN2ZQxlR4/b0hvXQiI/usyo398pOWOiQJS0rH3JX9L/Q==-2",
       nullptr},
      {ChecksumAlgorithm::kMd5,
       {"ebKBBg0ze5srhMzzkK3PdA==", "XUFAKrxLKna5cZ2REBfFkg=="},
       "fLsIqjwzCdaILBj87MS+5w==-2",
       nullptr},
      {ChecksumAlgorithm::kXxhash64, {"SrGuhw/sEV4=", "JseCfYifbaM="}, "aVxkA9UTsh0=-2", nullptr},
      {ChecksumAlgorithm::kXxhash3, {"IYg8Ke7DmeQ=", "lVXoVVxi3P0="}, "DiV4OE78jdw=-2", nullptr},
      {ChecksumAlgorithm::kXxhash128,
       {"fq8v9rMrjkMhiDwp7sOZ5A==", "tenBrQcbPn/Hec+qXlI4GA=="},
       "APkmprsXCRPDmG4SjtnA/w==-2",
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

TEST(ChecksumsTest, AlgorithmsAreFoundByNameAndHeader) {
  EXPECT_EQ(FindChecksum("CRC32C")->algorithm, ChecksumAlgorithm::kCrc32c);
  EXPECT_EQ(FindChecksumHeader("X-Amz-Checksum-SHA256")->algorithm, ChecksumAlgorithm::kSha256);
  EXPECT_EQ(FindChecksum("crc32c"), nullptr);
  EXPECT_EQ(FindChecksum(""), nullptr);
}

TEST(ChecksumsTest, ElementIsNamedAfterItsAlgorithm) {
  XmlWriter xml;
  xml.Open("R");
  WriteChecksum(xml, "CRC64NVME", "AA==");
  WriteChecksum(xml, "", "x");
  WriteChecksum(xml, "CRC32", "");
  xml.Close("R");
  EXPECT_TRUE(xml.Take().ends_with("<R><ChecksumCRC64NVME>AA==</ChecksumCRC64NVME></R>"));
}

}  // namespace
}  // namespace penstock::emulator::s3
