#include "client/cache/block_file.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace penstock::cache {
namespace {

BlockHead MakeHead() {
  BlockHead head;
  head.version = {"http://host:1", "bucket", "a/key", "0123abcd-2"};
  head.index = 2;
  head.data_bytes = 100;
  head.data_crc = 0xDEADBEEF;
  head.complete_metadata = true;
  head.metadata.size = 2 * kCacheBlockBytes + 100;
  head.metadata.etag = ETag("0123abcd-2");
  head.metadata.content_type = "text/plain";
  head.metadata.checksums = {{"crc64nvme", "AAAAAAAAAAA="}};
  head.metadata.user_metadata = {{"name", "value"}, {"empty", ""}};
  head.metadata.last_modified = WallTime(std::chrono::seconds(1'700'000'000));
  return head;
}

TEST(BlockFileTest, AFooterComesBackUnchanged) {
  const BlockHead head = MakeHead();
  const std::string footer = EncodeFooter(head);
  const auto read = DecodeFooter(footer, footer.size() + 100);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->version, head.version);
  EXPECT_EQ(read->index, 2u);
  EXPECT_EQ(read->data_bytes, 100u);
  EXPECT_EQ(read->data_crc, 0xDEADBEEF);
  EXPECT_TRUE(read->complete_metadata);
  EXPECT_EQ(read->metadata.size, head.metadata.size);
  EXPECT_EQ(read->metadata.etag, head.metadata.etag);
  EXPECT_EQ(read->metadata.content_type, "text/plain");
  EXPECT_EQ(read->metadata.checksums, head.metadata.checksums);
  EXPECT_EQ(read->metadata.user_metadata, head.metadata.user_metadata);
  EXPECT_EQ(read->metadata.last_modified, head.metadata.last_modified);
}

TEST(BlockFileTest, EveryFlippedBitOfAFooterIsFound) {
  const std::string footer = EncodeFooter(MakeHead());
  for (std::size_t i = 0; i < footer.size() * 8; ++i) {
    std::string damaged = footer;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    EXPECT_EQ(DecodeFooter(damaged, footer.size() + 100).error().kind, ErrorKind::kDataLoss);
  }
}

TEST(BlockFileTest, ATornFileIsFound) {
  const std::string footer = EncodeFooter(MakeHead());
  for (std::size_t size = 0; size < footer.size(); ++size) {
    EXPECT_FALSE(DecodeFooter(footer.substr(0, size), size + 100).ok());
    EXPECT_FALSE(DecodeFooter(footer.substr(footer.size() - size), size + 100).ok());
  }
  EXPECT_FALSE(DecodeFooter(footer, footer.size() + 99).ok());
  EXPECT_FALSE(DecodeFooter(footer, footer.size() + 101).ok());
}

TEST(BlockFileTest, RandomBytesAreNoFooter) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    bytes += "PSTKBLK1";
    EXPECT_FALSE(DecodeFooter(bytes, bytes.size()).ok());
  }
}

TEST(BlockFileTest, EveryPartOfTheIdentityChangesTheHash) {
  const ObjectVersion version{"e", "b", "k", "t"};
  for (const ObjectVersion& other :
       {ObjectVersion{"f", "b", "k", "t"}, ObjectVersion{"e", "c", "k", "t"},
        ObjectVersion{"e", "b", "l", "t"}, ObjectVersion{"e", "b", "k", "u"},
        ObjectVersion{"eb", "", "k", "t"}, ObjectVersion{"e", "bk", "", "t"}})
    EXPECT_NE(HashOf(version), HashOf(other));
  EXPECT_EQ(HashOf(version).size(), 64u);
}

TEST(BlockFileTest, PathsAreParsed) {
  const BlockId id{HashOf({"e", "b", "k", "t"}), 17};
  const std::string path = id.Path();
  EXPECT_EQ(ParseBlockPath(path.substr(0, 2), path.substr(3)), id);
  for (const std::string& name :
       {path.substr(3) + "x", path.substr(4), path.substr(3, 62), std::string(".tmp-1-2-3")})
    EXPECT_EQ(ParseBlockPath(path.substr(0, 2), name), std::nullopt) << name;
}

TEST(BlockFileTest, TheLastBlockIsShorter) {
  EXPECT_EQ(BytesOfBlock(0, 10), 10u);
  EXPECT_EQ(BytesOfBlock(1, kCacheBlockBytes), 0u);
  EXPECT_EQ(BytesOfBlock(1, kCacheBlockBytes + 5), 5u);
  EXPECT_EQ(BytesOfBlock(0, kCacheBlockBytes + 5), kCacheBlockBytes);
}

}  // namespace
}  // namespace penstock::cache
