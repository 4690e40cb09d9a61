#include "emulator/store/checks/fsck_digests.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::store {
namespace {

// Digests of "123456789" and its halves "1234" and "56789": CRCs from their catalogues, the others
// from coreutils.
constexpr std::string_view kText = "123456789";

Result<void> ReadText(ByteRange range, const std::function<void(ByteView)>& take) {
  for (std::uint64_t at = range.begin; at < range.end; ++at) take(AsBytes(kText.substr(at, 1)));
  return Ok();
}

ObjectRecord Record(std::string algorithm = {}, std::string checksum = {}) {
  ObjectRecord record;
  record.size = kText.size();
  record.etag = ETag("25f9e794323b453885f5181f1b624d0b");
  record.checksum_algorithm = std::move(algorithm);
  record.checksum_type = "FULL_OBJECT";
  record.checksum = std::move(checksum);
  return record;
}

std::size_t Mismatches(const ObjectRecord& record) {
  return CompareDigests(record, ReadText)->size();
}

TEST(FsckDigests, MatchesPublishedValues) {
  EXPECT_EQ(Mismatches(Record()), 0u);
  EXPECT_EQ(Mismatches(Record("CRC32", "y/Q5Jg==")), 0u);
  EXPECT_EQ(Mismatches(Record("CRC32C", "4waSgw==")), 0u);
  EXPECT_EQ(Mismatches(Record("CRC64NVME", "rosUhgp5mIg=")), 0u);
  EXPECT_EQ(Mismatches(Record("SHA1", "98O8HYCOBHMq32eZZczDTKeuNEE=")), 0u);
  EXPECT_EQ(Mismatches(Record("SHA256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")), 0u);
  EXPECT_EQ(Mismatches(Record("SHA512",
                              "2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/"
                              "J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==")),
            0u);
  EXPECT_EQ(Mismatches(Record("MD5", "JfnnlDI7RTiF9RgfG2JNCw==")), 0u);
  EXPECT_EQ(Mismatches(Record("SHA512", "AAAA")), 1u);
}

TEST(FsckDigests, NamesTheDifferingDigests) {
  ObjectRecord record = Record("CRC32", "AAAAAA==");
  record.etag = ETag(std::string(32, '0'));
  const auto mismatches = CompareDigests(record, ReadText);
  ASSERT_EQ(mismatches->size(), 2u);
  EXPECT_NE(mismatches->front().find("25f9e794323b453885f5181f1b624d0b"), std::string::npos);
  EXPECT_NE(mismatches->back().find("y/Q5Jg=="), std::string::npos);
}

TEST(FsckDigests, ComparesEachPart) {
  ObjectRecord record = Record("CRC32", "whatever-2");
  record.checksum_type = "COMPOSITE";
  record.etag = ETag("0123-2");
  record.parts = {{1, 4, ETag("81dc9bdb52d04dc20036dbd8313ed055"), "m+Pgow==", {}},
                  {2, 5, ETag("dbc09ff8a6a4b4dbd16e2d3ce3e8be38"), {}, {}}};
  const auto mismatches = CompareDigests(record, ReadText);
  ASSERT_EQ(mismatches->size(), 1u) << "only the ETag of the second part is wrong";
  EXPECT_EQ(mismatches->front().rfind("part 2 has ETag dbc09ff8", 0), 0u);
}

TEST(FsckDigests, SkipsDigestsThatCannotBeComputed) {
  ObjectRecord record = Record("XXHASH999", "AAAA");
  record.etag = ETag(std::string(32, '0'));
  record.attributes = {{":sse", "aws:kms"}};
  EXPECT_EQ(Mismatches(record), 0u);
}

}  // namespace
}  // namespace penstock::emulator::store
