#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

std::vector<Event> Describe(const VersionChange& change) {
  return {{"arn", change.version.key.value + (change.created_marker ? " marker" : "")}};
}

DeleteObject Deletion(const std::string& key, std::optional<VersionId> version = std::nullopt) {
  return {kBucket, ObjectKey(key), std::move(version), {}, {}, Describe};
}

Result<PutOutcome> PutReported(Store& store, const std::string& key, Precondition condition = {}) {
  PutObject request;
  request.bucket = kBucket;
  request.record.key = ObjectKey(key);
  request.precondition = std::move(condition);
  request.events = Describe;
  return store.Put(std::move(request));
}

std::vector<std::string> Messages(Store& store, std::uint64_t after = 0) {
  std::vector<std::string> messages;
  for (const StoredEvent& stored : store.ListEvents(after, 1000).value())
    messages.push_back(stored.event.message);
  return messages;
}

using Texts = std::vector<std::string>;

TEST(StoreEventsTest, AreStoredWithTheirChangeAndOutliveTheStore) {
  const TemporaryDirectory directory;
  {
    const auto store = OpenStore({.directory = directory.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutReported(*store, "a").ok());
    ASSERT_TRUE(store->SetTags(kBucket, ObjectKey("a"), std::nullopt, {{"k", "v"}}, Describe).ok());
    ASSERT_TRUE(store->Delete(Deletion("a")).ok());
  }
  const auto store = OpenStore({.directory = directory.path()});
  ASSERT_EQ(Messages(*store), (Texts{"a", "a", "a"}));
  EXPECT_EQ(Messages(*store, 2).size(), 1u);
  ASSERT_TRUE(store->RemoveEvents(2).ok());
  const auto left = store->ListEvents(0, 10).value();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().number, 3u);
}

TEST(StoreEventsTest, ARefusedChangeHasNone) {
  const auto store = OpenStore({});
  MakeBucket(*store);
  const auto refuse = [](const ObjectRecord*) -> Result<void> {
    return Error::Make(ErrorKind::kPreconditionFailed, "no");
  };
  EXPECT_FALSE(PutReported(*store, "a", refuse).ok());
  EXPECT_TRUE(store->Delete(Deletion("absent")).ok());
  EXPECT_TRUE(Messages(*store).empty());
}

TEST(StoreEventsTest, ADeletionSaysWhetherItMadeAMarker) {
  const auto store = OpenStore({});
  MakeBucket(*store, kBucket, Versioning::kEnabled);
  ASSERT_TRUE(PutReported(*store, "a").ok());
  const auto deleted = store->Delete(std::vector<DeleteObject>{Deletion("a")});
  ASSERT_TRUE(deleted.front().ok());
  ASSERT_TRUE(store->Delete(Deletion("a", deleted.front()->version_id)).ok());
  EXPECT_EQ(Messages(*store), (Texts{"a", "a marker", "a"}));
}

TEST(StoreEventsTest, AMoveShowsTheNewStorageClass) {
  const auto store = OpenStore({});
  MakeBucket(*store);
  const auto put = PutReported(*store, "a");
  const auto describe = [](const VersionChange& change) {
    return std::vector<Event>{{"arn", change.version.storage_class}};
  };
  const auto moved = store->ChangeStorageClass(
      {{kBucket, ObjectKey("a"), put->object->version_id, "GLACIER", {}, describe}});
  ASSERT_TRUE(moved.front().ok());
  EXPECT_EQ(Messages(*store), (Texts{"a", "GLACIER"}));
}

}  // namespace
}  // namespace penstock::emulator::store
