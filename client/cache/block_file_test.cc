#include "client/cache/block_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>

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

// Random values of all members that a footer stores.
class RandomHead {
 public:
  explicit RandomHead(std::uint64_t seed) : random_(seed) {}

  BlockHead Make() {
    BlockHead head = MakeHead();
    head.version = {Text(), Text(), Text(), Text()};
    ObjectMetadata& metadata = head.metadata;
    metadata.etag = ETag(head.version.etag);
    metadata.last_modified = Time();
    metadata.content_type = Text();
    metadata.storage_class = Text();
    metadata.version_id = VersionId(Text());
    metadata.restore = Text();
    metadata.checksums = {{Text(), Text()}};
    metadata.user_metadata = {{Text(), Text()}, {Text(), ""}};
    metadata.encryption = static_cast<EncryptionKind>(Number() % 6);
    metadata.parts_count = Count();
    if (Number() % 8 != 0) metadata.details.Edit() = Details();
    return head;
  }

 private:
  std::uint64_t Number() { return random_(); }
  std::string Text() {
    std::string text(Number() % 40, '\0');
    for (char& c : text) c = static_cast<char>(Number());
    return text;
  }
  WallTime Time() {
    return WallTime(std::chrono::seconds(static_cast<std::int64_t>(Number() % (1ull << 33))));
  }
  std::optional<int> Count() {
    return Number() % 4 == 0 ? std::nullopt : std::optional(static_cast<int>(Number() % 10'001));
  }
  ObjectDetails Details() {
    return {.cache_control = Text(),
            .content_encoding = Text(),
            .content_disposition = Text(),
            .content_language = Text(),
            .expires = Text(),
            .website_redirect = Text(),
            .kms_key_id = Text(),
            .bucket_key = Number() % 2 == 0,
            .customer_key_md5 = Text(),
            .lock = {static_cast<LockMode>(Number() % 3), Time(), Number() % 2 == 0},
            .expiration = Text(),
            .replication_status = Text(),
            .archive_status = Text(),
            .tag_count = Count(),
            .missing_metadata = Count()};
  }

  std::mt19937_64 random_;
};

// Names all members, so that a new one does not compile until it is compared.
void ExpectSame(const ObjectDetails& one, const ObjectDetails& two) {
  const auto members = [](const ObjectDetails& details) {
    const auto& [a, b, c, d, e, f, g, h, i, lock, k, l, m, n, o] = details;
    const auto& [mode, until, hold] = lock;
    return std::make_tuple(a, b, c, d, e, f, g, h, i, mode, until, hold, k, l, m, n, o);
  };
  EXPECT_EQ(members(one), members(two));
}
void ExpectSame(const ObjectMetadata& one, const ObjectMetadata& two) {
  const auto members = [](const ObjectMetadata& metadata) {
    const auto& [a, b, c, d, e, f, g, h, i, range, k, l, details] = metadata;
    return std::make_tuple(a, b, c, d, e, f, g, h, i, range.begin, range.end, k, l,
                           details.has_value());
  };
  EXPECT_EQ(members(one), members(two));
  ExpectSame(*one.details, *two.details);
}

TEST(BlockFileTest, AFooterHasAllMetadata) {
  RandomHead random(1);
  for (int i = 0; i < 200; ++i) {
    const BlockHead head = random.Make();
    const std::string footer = EncodeFooter(head);
    const auto read = DecodeFooter(footer, footer.size() + 100);
    ASSERT_TRUE(read.ok()) << i << ": " << read.error().ToString();
    EXPECT_EQ(read->version, head.version);
    ExpectSame(read->metadata, head.metadata);
  }
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
    bytes += "PSTKBLK2";
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
