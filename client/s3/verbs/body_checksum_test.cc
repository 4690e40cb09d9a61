#include "client/s3/verbs/body_checksum.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

// Check values of "123456789" (catalogue of parametrised CRC algorithms): CRC64NVME
// ae8b14860a799888, CRC32C e3069283, CRC32 cbf43926.
constexpr std::string_view kText = "123456789";

ObjectMetadata With(std::vector<std::pair<std::string, std::string>> checksums) {
  ObjectMetadata metadata;
  metadata.checksums = std::move(checksums);
  return metadata;
}

TEST(BodyChecksumTest, ValuesAreBase64OfTheBigEndianCrc) {
  EXPECT_EQ(Crc64NvmeText(AsBytes(kText)), "rosUhgp5mIg=");
  EXPECT_EQ(Crc64NvmeText(AsBytes("")), "AAAAAAAAAAA=");
}

TEST(BodyChecksumTest, ReadsASourceInPiecesAndRewindsIt) {
  StringSource source{std::string(kText)};
  EXPECT_EQ(Crc64NvmeText(source).value(), "rosUhgp5mIg=");
  EXPECT_EQ(AsText(source.Next(1)), "1");
}

TEST(BodyChecksumTest, RejectsASourceWhoseSizeIsWrong) {
  StringSource source{std::string(kText)};
  source.claimed_size = 8;
  EXPECT_EQ(Crc64NvmeText(source).error().kind, ErrorKind::kInvalidArgument);
}

TEST(BodyChecksumTest, AcceptsMatchingBytes) {
  for (const auto& [algorithm, value] :
       {std::pair{"crc64nvme", "rosUhgp5mIg="}, std::pair{"crc32c", "4waSgw=="},
        std::pair{"crc32", "y/Q5Jg=="}}) {
    auto verifier = ChecksumVerifier::For(With({{algorithm, value}}));
    ASSERT_TRUE(verifier) << algorithm;
    verifier->Update(AsBytes(kText.substr(0, 4)));
    verifier->Update(AsBytes(kText.substr(4)));
    EXPECT_TRUE(verifier->Finish().ok()) << algorithm;
  }
}

TEST(BodyChecksumTest, RejectsDifferingBytes) {
  auto verifier = ChecksumVerifier::For(With({{"crc32c", "4waSgw=="}}));
  ASSERT_TRUE(verifier);
  verifier->Update(AsBytes("123456780"));
  const auto result = verifier->Finish();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(result.error().message.find("4waSgw=="), std::string::npos);
}

TEST(BodyChecksumTest, PrefersTheStrongestAndIgnoresUnknownChecksums) {
  auto verifier =
      ChecksumVerifier::For(With({{"crc32", "AAAAAA=="}, {"crc64nvme", "rosUhgp5mIg="}}));
  ASSERT_TRUE(verifier);
  verifier->Update(AsBytes(kText));
  EXPECT_TRUE(verifier->Finish().ok());
  EXPECT_FALSE(ChecksumVerifier::For(With({{"sha256", "x"}})));
}

TEST(BodyChecksumTest, AnotherConfirmedChecksumIsDataLoss) {
  const std::vector<http::Header> sent = {{kCrc64NvmeHeader, "rosUhgp5mIg="}};
  EXPECT_TRUE(CheckConfirmedChecksum(sent, {200, {}}).ok());
  EXPECT_TRUE(
      CheckConfirmedChecksum(sent, {200, {{"X-Amz-Checksum-Crc64nvme", "rosUhgp5mIg="}}}).ok());
  EXPECT_EQ(CheckConfirmedChecksum(sent, {200, {{kCrc64NvmeHeader, "AAAAAAAAAAA="}}}).error().kind,
            ErrorKind::kDataLoss);
  // S3 confirms an append with the checksum of the whole object.
  const std::vector<http::Header> append = {{"x-amz-write-offset-bytes", "5"}, sent[0]};
  EXPECT_TRUE(CheckConfirmedChecksum(append, {200, {{kCrc64NvmeHeader, "AAAAAAAAAAA="}}}).ok());
}

}  // namespace
}  // namespace penstock::s3
