// Listings of objects and versions, in both modes.
#include <gtest/gtest.h>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

std::string Names(const std::vector<ListEntry>& entries) {
  std::string names;
  for (const ListEntry& entry : entries) {
    if (!names.empty()) names += ' ';
    names += entry.key;
  }
  return names;
}

class ListingTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeBucket(*store_); }
  void PutAll(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) ASSERT_TRUE(PutText(*store_, key, "x").ok());
  }
  ListPage List(ListObjects query) {
    query.bucket = kBucket;
    auto page = store_->List(query);
    EXPECT_TRUE(page.ok());
    return std::move(page).value();
  }
  VersionPage Versions(ListVersions query = {}) {
    query.bucket = kBucket;
    auto page = store_->List(query);
    EXPECT_TRUE(page.ok());
    return std::move(page).value();
  }
  std::unique_ptr<Store> store_ = OpenStore({});
};

TEST_F(ListingTest, OrdersKeysByUnsignedBytes) {
  PutAll({"b", "\xC3\xA9", "a", "B", "~"});
  const ListPage page = List({});
  EXPECT_EQ(Names(page.entries), "B a b ~ \xC3\xA9");
  EXPECT_FALSE(page.truncated);
  EXPECT_EQ(page.next, "");
}

TEST_F(ListingTest, SelectsThePrefix) {
  PutAll({"a/1", "a/2", "b/1"});
  EXPECT_EQ(Names(List({.prefix = "a/"}).entries), "a/1 a/2");
  EXPECT_EQ(Names(List({.prefix = "c"}).entries), "");
}

TEST_F(ListingTest, GroupsCommonPrefixes) {
  PutAll({"a/1", "a/2", "b", "c/x/1", "c/y"});
  EXPECT_EQ(Names(List({.delimiter = "/"}).entries), "a/ b c/");
  EXPECT_EQ(Names(List({.prefix = "c/", .delimiter = "/"}).entries), "c/x/ c/y");
}

TEST_F(ListingTest, TruncatesTheMergedOrder) {
  // Recorded against Amazon S3.
  PutAll({"dir1/subdir.ext", "dir1/subdir/file.txt", "dir1/z"});
  const ListPage page = List({.prefix = "dir1/", .delimiter = "/", .max_keys = 2});
  EXPECT_EQ(Names(page.entries), "dir1/subdir.ext dir1/subdir/");
  EXPECT_TRUE(page.truncated);
  EXPECT_EQ(page.next, "dir1/subdir/");
  EXPECT_EQ(Names(List({.prefix = "dir1/", .delimiter = "/", .start_after = page.next}).entries),
            "dir1/z");
}

TEST_F(ListingTest, AMarkerInsideAGroupSkipsIt) {
  PutAll({"folder/aSubfolder/subFile1", "folder/aSubfolder/subFile2", "folder/file1"});
  const ListPage page =
      List({.prefix = "folder/", .delimiter = "/", .start_after = "folder/aSubfolder/subFile1"});
  EXPECT_EQ(Names(page.entries), "folder/file1");
}

TEST_F(ListingTest, IsNotTruncatedWhenOnlyKeysOfTheLastGroupFollow) {
  PutAll({"a", "b/1", "b/2"});
  const ListPage page = List({.delimiter = "/", .max_keys = 2});
  EXPECT_EQ(Names(page.entries), "a b/");
  EXPECT_FALSE(page.truncated);
}

TEST_F(ListingTest, ZeroKeysIsAnEmptyLastPage) {
  PutAll({"a"});
  const ListPage page = List({.max_keys = 0});
  EXPECT_TRUE(page.entries.empty());
  EXPECT_FALSE(page.truncated);
}

TEST_F(ListingTest, FailsForAMissingBucket) {
  ListObjects query;
  query.bucket = BucketName("nowhere");
  EXPECT_EQ(store_->List(query).error().code, "NoSuchBucket");
}

TEST_F(ListingTest, HidesDeletedKeysAndOldVersions) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  PutAll({"a", "a", "b", "c"});
  ASSERT_TRUE(Remove(*store_, "b").ok());
  EXPECT_EQ(Names(List({}).entries), "a c");
}

TEST_F(ListingTest, ListsVersionsNewestFirst) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  const auto first = PutText(*store_, "a", "1")->object->version_id;
  const auto second = PutText(*store_, "a", "2")->object->version_id;
  PutAll({"b"});
  const auto marker = Remove(*store_, "a")->version_id;
  const VersionPage page = Versions();
  ASSERT_EQ(page.entries.size(), 4u);
  EXPECT_EQ(page.entries[0].version_id, marker.value);
  EXPECT_TRUE(page.entries[0].is_delete_marker);
  EXPECT_TRUE(page.entries[0].is_latest);
  EXPECT_EQ(page.entries[1].version_id, second.value);
  EXPECT_FALSE(page.entries[1].is_latest);
  EXPECT_EQ(page.entries[2].version_id, first.value);
  EXPECT_EQ(page.entries[3].key, "b");
  EXPECT_TRUE(page.entries[3].is_latest);
}

TEST_F(ListingTest, ResumesVersionsAfterTheMarkers) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  PutAll({"a", "a", "a", "b"});
  std::vector<VersionId> seen;
  ListVersions query;
  query.max_keys = 1;
  for (int page_number = 0; page_number < 4; ++page_number) {
    const VersionPage page = Versions(query);
    ASSERT_EQ(page.entries.size(), 1u);
    seen.emplace_back(std::string(page.entries[0].version_id));
    EXPECT_EQ(page.entries[0].is_latest, page_number == 0 || page_number == 3);
    EXPECT_EQ(page.truncated, page_number < 3);
    query.key_marker = page.next_key_marker;
    query.version_id_marker = page.next_version_id_marker;
  }
  const VersionPage all = Versions();
  ASSERT_EQ(all.entries.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all.entries[i].version_id, seen[i].value);
  EXPECT_EQ(Names(Versions({.key_marker = "a"}).entries), "b");
}

TEST_F(ListingTest, ResumesAfterADeletedVersion) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  PutAll({"a", "a", "a"});
  const VersionPage first = Versions({.max_keys = 1});
  ASSERT_TRUE(Remove(*store_, "a", VersionId(std::string(first.entries[0].version_id))).ok());
  const VersionPage rest = Versions(
      {.key_marker = first.next_key_marker, .version_id_marker = first.next_version_id_marker});
  ASSERT_EQ(rest.entries.size(), 2u);
  EXPECT_TRUE(rest.entries[0].is_latest);
  EXPECT_FALSE(rest.entries[1].is_latest);
}

TEST_F(ListingTest, GroupsVersionsByCommonPrefix) {
  ASSERT_TRUE(store_->SetVersioning(kBucket, Versioning::kEnabled).ok());
  PutAll({"a/1", "a/1", "b"});
  ASSERT_TRUE(Remove(*store_, "a/1").ok());
  const VersionPage page = Versions({.delimiter = "/", .max_keys = 1});
  EXPECT_EQ(Names(page.entries), "a/");
  EXPECT_EQ(page.next_key_marker, "a/");
  EXPECT_FALSE(page.next_version_id_marker.has_value());
  EXPECT_EQ(Names(Versions({.delimiter = "/", .key_marker = "a/"}).entries), "b");
}

}  // namespace
}  // namespace penstock::emulator::store
