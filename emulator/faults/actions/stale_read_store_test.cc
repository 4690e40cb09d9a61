#include "emulator/faults/actions/stale_read_store.h"

#include <map>
#include <random>

#include "emulator/faults/test_support.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::faults {
namespace {

using store::testing::kBucket;

const WallTime kNow{std::chrono::hours(1)};

class StaleReadStoreTest : public testing::Test {
 protected:
  StaleReadStoreTest() { store::testing::MakeBucket(*truth_); }

  // Writes and hides an object; reads keep seeing the previous state.
  void PutHidden(const std::string& key, std::string_view body) {
    Hide(key);
    ASSERT_TRUE(store::testing::PutText(*truth_, key, body).ok());
  }
  void DeleteHidden(const std::string& key) {
    Hide(key);
    ASSERT_TRUE(store::testing::Remove(*truth_, key).ok());
  }
  void Hide(const std::string& key) {
    const auto before = truth_->FindObject(kBucket, ObjectKey(key));
    const auto place = hidden_.Begin(kBucket.value, key, before.ok() ? *before : nullptr, kNow);
    hidden_.HideUntil(*place, kNow + std::chrono::seconds(1));
  }
  // Lists each entry with its size, common prefixes without size, one page per line.
  static std::string Listed(store::Store& store, const std::string& prefix,
                            const std::string& delimiter, int max_keys = 1'000) {
    std::string text;
    store::ListObjects query{
        .bucket = kBucket, .prefix = prefix, .delimiter = delimiter, .max_keys = max_keys};
    for (;;) {
      const store::ListPage page = store.List(query).value();
      for (const store::ListEntry& entry : page.entries) {
        text += std::string(entry.key) +
                (entry.is_common_prefix ? "" : "=" + std::to_string(entry.size)) + " ";
      }
      EXPECT_LE(page.entries.size(), static_cast<std::size_t>(max_keys));
      if (!page.truncated) return text;
      query.start_after = page.next;
    }
  }

  const std::shared_ptr<store::Store> truth_ = store::testing::OpenStore({});
  HiddenWrites hidden_;
  StaleReadStore veiled_{truth_, hidden_, kNow};
};

TEST_F(StaleReadStoreTest, ReadsSeePreviousState) {
  ASSERT_TRUE(store::testing::PutText(*truth_, "old", "1").ok());
  ASSERT_TRUE(store::testing::PutText(*truth_, "gone", "2").ok());
  PutHidden("old", "new");
  PutHidden("new", "3");
  DeleteHidden("gone");
  EXPECT_EQ(store::testing::Get(veiled_, "old"), "1");
  EXPECT_EQ(store::testing::Get(veiled_, "new"), "[NoSuchKey]");
  EXPECT_EQ(store::testing::Get(veiled_, "gone"), "2");
  EXPECT_EQ(store::testing::Get(veiled_, "none"), "[NoSuchKey]");
  EXPECT_EQ(Listed(veiled_, "", ""), "gone=1 old=1 ");
  StaleReadStore later(truth_, hidden_, kNow + std::chrono::seconds(1));
  EXPECT_EQ(Listed(later, "", ""), "new=1 old=3 ");
}

TEST_F(StaleReadStoreTest, ReadByVersionIdSeesHiddenWrite) {
  const BucketName versioned("versioned");
  store::testing::MakeBucket(*truth_, versioned, store::Versioning::kEnabled);
  const auto put = store::testing::PutText(*truth_, "k", "1", versioned);
  hidden_.Begin("versioned", "k", nullptr, kNow);
  EXPECT_EQ(store::testing::Get(veiled_, "k", versioned), "[NoSuchKey]");
  EXPECT_EQ(store::testing::Get(veiled_, "k", versioned, put->object->version_id), "1");
}

TEST_F(StaleReadStoreTest, CommonPrefixFollowsVisibleKeys) {
  ASSERT_TRUE(store::testing::PutText(*truth_, "a/1", "1").ok());
  ASSERT_TRUE(store::testing::PutText(*truth_, "c/1", "1").ok());
  PutHidden("a/2", "2");
  PutHidden("b/1", "1");
  PutHidden("b/2", "1");
  DeleteHidden("c/1");
  EXPECT_EQ(Listed(*truth_, "", "/"), "a/ b/ ");
  EXPECT_EQ(Listed(veiled_, "", "/"), "a/ c/ ");
  EXPECT_EQ(Listed(veiled_, "b/", "/"), "");
}

// All pages together are the listing before the hidden writes.
TEST_F(StaleReadStoreTest, PagesOfAnySizeShowPreviousListing) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  const auto key = [&random] {
    return std::string(1, "abcd"[random() % 4]) + "/" + std::to_string(random() % 8);
  };
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(store::testing::PutText(*truth_, key(), std::string(random() % 9, 'x')).ok());
  std::map<std::string, std::string> before;
  for (const char* delimiter : {"", "/"}) before[delimiter] = Listed(*truth_, "", delimiter);
  for (int i = 0; i < 20; ++i)
    random() % 2 == 0 ? PutHidden(key(), "hidden, and longer") : DeleteHidden(key());
  for (const char* delimiter : {"", "/"}) {
    for (const int max_keys : {1, 2, 3, 7, 1'000}) {
      EXPECT_EQ(Listed(veiled_, "", delimiter, max_keys), before[delimiter])
          << "by " << max_keys << " '" << delimiter << "', seed " << kSeed;
    }
  }
}

}  // namespace
}  // namespace penstock::emulator::faults
