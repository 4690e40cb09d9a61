#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

std::string Names(const ListPage& page) {
  std::string names;
  for (const ListEntry& entry : page.entries)
    names += (names.empty() ? "" : " ") + std::string(entry.key);
  return names;
}

class DirectoryListingTest : public ::testing::Test {
 protected:
  void SetUp() override { MakeBucket(*store_); }
  void PutAll(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) ASSERT_TRUE(PutText(*store_, key, "x").ok());
  }
  UploadPtr CreateUpload(const std::string& key) {
    UploadRecord upload;
    upload.bucket = kBucket;
    upload.key = ObjectKey(key);
    auto created = store_->CreateUpload(upload);
    EXPECT_TRUE(created.ok());
    return created.ok() ? *created : nullptr;
  }
  ListPage List(ListDirectory query) {
    query.bucket = kBucket;
    auto page = store_->List(query);
    EXPECT_TRUE(page.ok());
    return std::move(page).value();
  }
  std::unique_ptr<Store> store_ = OpenStore({});
};

TEST_F(DirectoryListingTest, ListsInReverseOrder) {
  PutAll({"a", "b/1", "b/2", "c"});
  EXPECT_EQ(Names(List({})), "c b/2 b/1 a");
}

TEST_F(DirectoryListingTest, ListsEachFolderOnce) {
  PutAll({"a", "b/1", "b/2/x", "b/", "c/y"});
  EXPECT_EQ(Names(List({.fold = true})), "c/ b/ a");
  EXPECT_EQ(Names(List({.prefix = "b/", .fold = true})), "b/2/ b/1 b/");
}

TEST_F(DirectoryListingTest, AnObjectAndAFolderMayShareAName) {
  PutAll({"a", "a/1", "a.txt", "a0"});
  EXPECT_EQ(Names(List({.fold = true})), "a0 a/ a.txt a");
}

TEST_F(DirectoryListingTest, ListsFoldersWithOnlyOpenUploads) {
  PutAll({"b/1"});
  const UploadPtr inner = CreateUpload("a/x/1");
  const UploadPtr beside = CreateUpload("b/2");
  CreateUpload("top");
  EXPECT_EQ(Names(List({.fold = true})), "b/ a/");
  EXPECT_EQ(Names(List({.prefix = "a/", .fold = true})), "a/x/");
  EXPECT_EQ(Names(List({.prefix = "b/", .fold = true})), "b/1");
  EXPECT_EQ(Names(List({})), "b/1") << "an open upload is not an object";
  ASSERT_TRUE(store_->AbortUpload(kBucket, inner->key, inner->id).ok());
  EXPECT_EQ(Names(List({.fold = true})), "b/");
}

TEST_F(DirectoryListingTest, PagesOfAnySizeFormTheFullListing) {
  std::vector<std::string> keys;
  for (int i = 0; i < 60; ++i)
    keys.push_back(std::string(1, static_cast<char>('a' + i % 7)) + "/" + std::to_string(i));
  keys.insert(keys.end(), {"plain", "zz", "b", "a/"});
  PutAll(keys);
  CreateUpload("upload/only/1");
  for (const bool fold : {false, true}) {
    const std::string whole = Names(List({.fold = fold}));
    for (const int size : {1, 2, 3, 7, 64}) {
      std::string joined;
      ListDirectory query{.fold = fold, .max_keys = size};
      for (int pages = 0; pages < 100; ++pages) {
        const ListPage page = List(query);
        joined += (joined.empty() ? "" : " ") + Names(page);
        if (!page.truncated) break;
        ASSERT_EQ(page.entries.size(), static_cast<std::size_t>(size));
        query.before = page.next;
      }
      EXPECT_EQ(joined, whole) << "pages of " << size << (fold ? ", folded" : "");
    }
  }
}

TEST_F(DirectoryListingTest, ZeroKeysIsAnEmptyPage) {
  PutAll({"a"});
  const ListPage page = List({.max_keys = 0});
  EXPECT_TRUE(page.entries.empty());
  EXPECT_FALSE(page.truncated);
  EXPECT_EQ(store_->List(ListDirectory{.bucket = BucketName("absent")}).error().code,
            "NoSuchBucket");
}

TEST_F(DirectoryListingTest, DeletesABucketWithOpenUploadsOnlyOnRequest) {
  CreateUpload("a");
  EXPECT_EQ(store_->DeleteBucket(kBucket, OpenUploads::kBlockIt).error().code, "BucketNotEmpty");
  EXPECT_TRUE(store_->DeleteBucket(kBucket, OpenUploads::kGoWithIt).ok());
}

}  // namespace
}  // namespace penstock::emulator::store
