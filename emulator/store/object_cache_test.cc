#include "emulator/store/object_cache.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/testing_allocations.h"

namespace penstock::emulator::store {
namespace {

ObjectPtr Object(const std::string& key, const std::string& etag = "") {
  auto record = std::make_shared<ObjectRecord>();
  record->key = ObjectKey(key);
  record->etag = ETag(etag);
  return record;
}

TEST(ObjectCache, FindsWhatWasOffered) {
  ObjectCache cache({});
  const ObjectPtr object = Object("key");
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr);
  cache.Offer("bucket", object, cache.TakeTicket("bucket", "key"));
  EXPECT_EQ(cache.Find("bucket", "key"), object);
  EXPECT_EQ(cache.Find("other", "key"), nullptr);
}

TEST(ObjectCache, AnOfferFromBeforeAWriteIsRefused) {
  ObjectCache cache({});
  const auto ticket = cache.TakeTicket("bucket", "key");
  cache.Erase("bucket", "key");  // the write that the reader's snapshot did not see
  cache.Offer("bucket", Object("key", "old"), ticket);
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr);
}

TEST(ObjectCache, TheWritersValueReplaces) {
  ObjectCache cache({});
  cache.Offer("bucket", Object("key", "old"), cache.TakeTicket("bucket", "key"));
  cache.Set("bucket", Object("key", "new"));
  EXPECT_EQ(cache.Find("bucket", "key")->etag.value, "new");
  cache.Erase("bucket", "key");
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr);
}

TEST(ObjectCache, AHeldKeyIsNotCached) {
  ObjectCache cache({});
  cache.Set("bucket", Object("key", "old"));
  cache.Hold("bucket", "key");
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr);
  cache.Offer("bucket", Object("key", "old"), cache.TakeTicket("bucket", "key"));
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr)
      << "a reader's snapshot may be older than the commit";
  cache.Set("bucket", Object("key", "new"));
  EXPECT_EQ(cache.Find("bucket", "key")->etag.value, "new");
}

TEST(ObjectCache, OfSeveralChangesInOneCommitOnlyTheLastIsCached) {
  ObjectCache cache({});
  cache.Hold("bucket", "key");
  cache.Hold("bucket", "key");
  cache.Set("bucket", Object("key", "first"));
  EXPECT_EQ(cache.Find("bucket", "key"), nullptr) << "the database has the second already";
  cache.Set("bucket", Object("key", "second"));
  EXPECT_EQ(cache.Find("bucket", "key")->etag.value, "second");
}

TEST(ObjectCache, EraseEndsAHold) {
  ObjectCache cache({});
  cache.Hold("bucket", "key");
  cache.Erase("bucket", "key");
  cache.Offer("bucket", Object("key", "kept"), cache.TakeTicket("bucket", "key"));
  EXPECT_EQ(cache.Find("bucket", "key")->etag.value, "kept");
}

TEST(ObjectCache, ForgetsTheLeastRecentlyUsed) {
  ObjectCache cache({.bytes = 64 * 2048});  // about three records for each of the 64 shards
  cache.Set("bucket", Object("hot"));
  int kept = 0;
  for (int i = 0; i < 10'000; ++i) {
    cache.Set("bucket", Object("cold" + std::to_string(i)));
    ASSERT_NE(cache.Find("bucket", "hot"), nullptr) << i;
  }
  for (int i = 0; i < 10'000; ++i)
    kept += cache.Find("bucket", "cold" + std::to_string(i)) != nullptr ? 1 : 0;
  EXPECT_GT(kept, 0);
  EXPECT_LE(kept, 64 * 4);
}

TEST(ObjectCache, RefusesWhatWouldPushEverythingElseOut) {
  ObjectCache cache({.bytes = 64 * 2048});
  auto giant = std::make_shared<ObjectRecord>();
  giant->key = ObjectKey("giant");
  giant->attributes = {{"name", std::string(10'000, 'x')}};
  cache.Set("bucket", giant);
  EXPECT_EQ(cache.Find("bucket", "giant"), nullptr);
}

// A failed allocation between two steps once left an entry that nothing could find, or the object
// of before the write.
TEST(ObjectCache, WithoutMemoryNothingStaleStays) {
  for (int failing = 0; failing < 8; ++failing) {
    ObjectCache cache({});
    const ObjectPtr before = Object("key", "old");
    const ObjectPtr after = Object("key", "new");
    cache.Set("bucket", before);
    allocations_until_failure = failing;
    cache.Set("bucket", after);
    allocations_until_failure = -1;
    const ObjectPtr found = cache.Find("bucket", "key");
    EXPECT_TRUE(found == nullptr || found == after) << failing;
    cache.Set("bucket", after);
    EXPECT_EQ(cache.Find("bucket", "key"), after) << failing;
    cache.Erase("bucket", "key");
    EXPECT_EQ(cache.Find("bucket", "key"), nullptr) << failing;
  }
}

}  // namespace
}  // namespace penstock::emulator::store
