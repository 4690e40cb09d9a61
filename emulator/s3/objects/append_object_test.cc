#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kKey = "/b--use1-az4--x-s3/k";

std::string Crc32Of(std::string_view text) {
  ChecksumDigester digester(ChecksumAlgorithm::kCrc32);
  digester.Update(AsBytes(text));
  return digester.Finish();
}

class AppendObjectTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(s3_.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200); }
  Reply Append(std::size_t offset, const std::string& body, const std::string& headers = {}) {
    return s3_.Send(
        "PUT " + kKey + "\nx-amz-write-offset-bytes: " + std::to_string(offset) + headers,
        testing::Body{body});
  }
  std::string Text() { return s3_.Send("GET " + kKey).body; }
  Harness s3_{{.max_object_parts = 20}};
};

TEST_F(AppendObjectTest, AppendsAtTheEnd) {
  s3_.Send("PUT " + kKey, "hello");
  const std::string before = s3_.Send("HEAD " + kKey).Header("ETag");
  const Reply reply = Append(5, " world");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Header("x-amz-object-size"), "11");
  EXPECT_NE(reply.Header("ETag"), before);
  EXPECT_EQ(Text(), "hello world");
  EXPECT_EQ(s3_.Send("HEAD " + kKey).Header("ETag"), reply.Header("ETag"));
}

TEST_F(AppendObjectTest, OffsetZeroCreatesAnAbsentObject) {
  EXPECT_EQ(Append(0, "").Header("x-amz-object-size"), "0");
  EXPECT_EQ(Append(0, "x").Header("x-amz-object-size"), "1");
  EXPECT_EQ(Text(), "x");
}

TEST_F(AppendObjectTest, PositiveOffsetOfAnAbsentObjectIsRefused) {
  EXPECT_EQ(Append(1, "x").Outcome(), "404 NoSuchKey");
}

TEST_F(AppendObjectTest, OtherOffsetsAreRefused) {
  s3_.Send("PUT " + kKey, "hello");
  EXPECT_EQ(Append(0, "x").Outcome(), "400 InvalidWriteOffset");
  EXPECT_EQ(Append(4, "x").Outcome(), "400 InvalidWriteOffset");
  EXPECT_EQ(Append(6, "x").Outcome(), "400 InvalidWriteOffset");
  EXPECT_EQ(s3_.Send("PUT " + kKey + "\nx-amz-write-offset-bytes: -1", "x").Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Text(), "hello");
}

TEST_F(AppendObjectTest, EmptyAppendsAreRefused) {
  s3_.Send("PUT " + kKey, "hello");
  const Reply refused = Append(5, "");
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(refused.Element("Message"),
            "Request body cannot be empty when 'write offset' is specified.");
}

TEST_F(AppendObjectTest, ChecksumAlgorithmMustMatchTheObject) {
  s3_.Send("PUT " + kKey +
               "\nx-amz-checksum-sha1: " + Base64Encode(Sha1(AsBytes(std::string_view("hello")))),
           "hello");
  const Reply refused = Append(5, "!", "\nx-amz-checksum-crc32: " + Crc32Of("!"));
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(refused.Element("Message"),
            "Checksum Type mismatch occurred, expected checksum Type: sha1, actual checksum Type: "
            "crc32.");
}

TEST_F(AppendObjectTest, MetadataIsAllowedOnlyOnCreation) {
  EXPECT_EQ(Append(0, "a", "\nx-amz-meta-a: 1").Outcome(), "200");
  const Reply refused = Append(1, "b", "\nx-amz-meta-a: 2");
  EXPECT_EQ(refused.Element("Message"),
            "Cannot specify both a write offset value and user-defined object metadata for "
            "existing objects.");
  EXPECT_EQ(Append(1, "b").Outcome(), "200");
  EXPECT_EQ(s3_.Send("HEAD " + kKey).Header("x-amz-meta-a"), "1");
}

TEST_F(AppendObjectTest, PiecesAreLimitedAndCopiesResetTheCount) {
  std::string body;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Append(body.size(), std::string(1, static_cast<char>('a' + i))).Outcome(), "200")
        << i;
    body += static_cast<char>('a' + i);
  }
  EXPECT_EQ(Append(20, "x").Outcome(), "400 TooManyParts");
  EXPECT_EQ(Text(), body);
  ASSERT_EQ(s3_.Send("PUT /b--use1-az4--x-s3/copy\nx-amz-copy-source: b--use1-az4--x-s3/k").status,
            200);
  EXPECT_EQ(s3_.Send("PUT /b--use1-az4--x-s3/copy\nx-amz-write-offset-bytes: 20", "x").Outcome(),
            "200");
}

TEST_F(AppendObjectTest, EncryptionMustMatchTheObject) {
  s3_.Send("PUT " + kKey, "hello");
  EXPECT_EQ(Append(5, "!", "\nx-amz-server-side-encryption: aws:kms").Outcome(),
            "400 EncryptionTypeMismatch");
  EXPECT_EQ(Append(5, "!", "\nx-amz-server-side-encryption: AES256").Outcome(), "200");
}

TEST_F(AppendObjectTest, ConditionsAreChecked) {
  const std::string etag = s3_.Send("PUT " + kKey, "hello").Header("ETag");
  EXPECT_EQ(Append(5, "!", "\nIf-Match: \"no\"").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(Append(5, "!", "\nIf-None-Match: *").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(Append(5, "!", "\nIf-Match: " + etag).Outcome(), "200");
}

TEST_F(AppendObjectTest, CrcsCoverTheWholeObject) {
  s3_.Send("PUT " + kKey + "\nx-amz-checksum-crc32: " + Crc32Of("hello"), "hello");
  const Reply reply = Append(5, " world", "\nx-amz-checksum-crc32: " + Crc32Of(" world"));
  EXPECT_EQ(reply.Header("x-amz-checksum-crc32"), Crc32Of("hello world"));
  EXPECT_EQ(
      s3_.Send("HEAD " + kKey + "\nx-amz-checksum-mode: ENABLED").Header("x-amz-checksum-crc32"),
      Crc32Of("hello world"));
  EXPECT_EQ(Append(11, "!").Outcome(), "200") << "append without a checksum";
  EXPECT_EQ(
      s3_.Send("HEAD " + kKey + "\nx-amz-checksum-mode: ENABLED").Header("x-amz-checksum-crc32"),
      Crc32Of("hello world!"));
}

TEST_F(AppendObjectTest, CrcIsThatOfTheNewObjectIfTheOldOneIsDeletedMeanwhile) {
  s3_.Send("PUT " + kKey + "\nx-amz-checksum-crc32: " + Crc32Of(""), "");
  const Reply reply =
      s3_.Send("PUT " + kKey + "\nx-amz-write-offset-bytes: 0",
               testing::Body{.text = "hello", .at_first_read = [&] {
                               EXPECT_EQ(s3_.Send("DELETE " + kKey).Outcome(), "204");
                             }});
  EXPECT_EQ(reply.Outcome(), "200");
  ChecksumDigester digester(ChecksumAlgorithm::kCrc64Nvme);
  digester.Update(AsBytes(std::string_view("hello")));
  EXPECT_EQ(reply.Header("x-amz-checksum-crc64nvme"), digester.Finish());
  EXPECT_EQ(Text(), "hello");
}

TEST_F(AppendObjectTest, ShaCoversOnlyTheAppendedBytes) {
  const auto sha = [](std::string_view text) { return Base64Encode(Sha256(AsBytes(text))); };
  s3_.Send("PUT " + kKey + "\nx-amz-checksum-sha256: " + sha("hello"), "hello");
  EXPECT_EQ(Append(5, "!", "\nx-amz-checksum-sha256: " + sha("!")).Header("x-amz-checksum-sha256"),
            sha("!"));
  EXPECT_EQ(
      s3_.Send("HEAD " + kKey + "\nx-amz-checksum-mode: ENABLED").Header("x-amz-checksum-sha256"),
      "<absent>");
  EXPECT_EQ(s3_.Send("GET " + kKey + "?attributes\nx-amz-object-attributes: Checksum,ObjectSize")
                .Element("ObjectSize"),
            "6");
  EXPECT_EQ(Append(6, "?", "\nx-amz-checksum-sha256: " + sha("!")).Outcome(), "400 BadDigest");
}

TEST_F(AppendObjectTest, LocalZonesAndGeneralPurposeBucketsRefuseAppends) {
  s3_.Send("PUT /l--usw2-lax1-az1--x-s3",
           "<CreateBucketConfiguration><Location><Type>LocalZone</Type><Name>usw2-lax1-az1</Name></"
           "Location>"
           "<Bucket><Type>Directory</Type><DataRedundancy>SingleLocalZone</DataRedundancy></"
           "Bucket></CreateBucketConfiguration>");
  EXPECT_EQ(s3_.Send("PUT /l--usw2-lax1-az1--x-s3/k\nx-amz-write-offset-bytes: 0", "x").Outcome(),
            "501 NotImplemented");
  s3_.Send("PUT /plain-bucket");
  const Reply refused = s3_.Send("PUT /plain-bucket/k\nx-amz-write-offset-bytes: 0", "x");
  EXPECT_EQ(refused.Outcome(), "501 NotImplemented");
  EXPECT_EQ(refused.Element("Header"), "x-amz-write-offset-bytes");
}

}  // namespace
}  // namespace penstock::emulator::s3
