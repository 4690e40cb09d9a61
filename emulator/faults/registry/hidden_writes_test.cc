#include "emulator/faults/registry/hidden_writes.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

WallTime At(int second) { return WallTime(std::chrono::seconds(second)); }

store::ObjectPtr Object(const std::string& key) {
  auto object = std::make_shared<store::ObjectRecord>();
  object->key = ObjectKey(key);
  return object;
}

class HiddenWritesTest : public testing::Test {
 protected:
  HiddenWrites::Place Begin(const std::string& key, store::ObjectPtr before) {
    return writes_.Begin("b", key, std::move(before), At(0)).value();
  }
  std::optional<store::ObjectPtr> Find(int second) const {
    return writes_.Find("b", "k", At(second));
  }

  HiddenWrites writes_;
};

TEST_F(HiddenWritesTest, WriteIsHiddenUntilItsTime) {
  EXPECT_TRUE(writes_.empty());
  const store::ObjectPtr before = Object("k");
  const auto place = Begin("k", before);
  EXPECT_FALSE(writes_.empty());
  EXPECT_EQ(Find(1'000'000), before) << "the write is in progress";
  writes_.HideUntil(place, At(5));
  EXPECT_EQ(Find(4), before);
  EXPECT_EQ(Find(5), std::nullopt);
  EXPECT_EQ(writes_.Find("b", "other", At(4)), std::nullopt);
  EXPECT_EQ(writes_.Find("other", "k", At(4)), std::nullopt);
}

TEST_F(HiddenWritesTest, ReadsSeeStateBeforeFirstHiddenWrite) {
  const store::ObjectPtr between = Object("k");
  const auto first = Begin("k", nullptr);
  const auto second = Begin("k", between);
  writes_.HideUntil(first, At(5));
  writes_.HideUntil(second, At(7));
  EXPECT_EQ(Find(4), store::ObjectPtr());
  EXPECT_EQ(Find(6), between);
  EXPECT_EQ(Find(7), std::nullopt);
}

TEST_F(HiddenWritesTest, VisibleWriteMakesEarlierWritesVisible) {
  const auto first = Begin("k", nullptr);
  const auto second = Begin("k", Object("k"));
  writes_.HideUntil(first, At(9));
  writes_.HideUntil(second, At(5));
  EXPECT_EQ(Find(4), store::ObjectPtr());
  EXPECT_EQ(Find(5), std::nullopt);
}

TEST_F(HiddenWritesTest, FailedWriteIsNotHidden) {
  writes_.Drop(Begin("k", nullptr));
  EXPECT_EQ(Find(0), std::nullopt);
  EXPECT_TRUE(writes_.empty());
}

TEST_F(HiddenWritesTest, KeysUnderAPrefixAreSorted) {
  for (const char* key : {"a/2", "b", "a/1", "a"}) writes_.HideUntil(Begin(key, nullptr), At(5));
  std::string keys;
  for (const auto& seen : writes_.Under("b", "a/", At(1))) keys += seen.key + " ";
  EXPECT_EQ(keys, "a/1 a/2 ");
  EXPECT_TRUE(writes_.Under("b", "", At(5)).empty());
}

TEST_F(HiddenWritesTest, ClearMakesAllWritesVisible) {
  const auto place = Begin("k", nullptr);
  writes_.Clear();
  writes_.HideUntil(place, At(5));
  EXPECT_EQ(Find(0), std::nullopt);
  EXPECT_TRUE(writes_.empty());
}

TEST_F(HiddenWritesTest, BoundsHiddenWritesAndReusesVisibleEntries) {
  std::vector<HiddenWrites::Place> places;
  for (std::size_t i = 0; i < HiddenWrites::kMax; ++i)
    places.push_back(Begin("k" + std::to_string(i), nullptr));
  EXPECT_FALSE(writes_.Begin("b", "k", nullptr, At(9)));
  writes_.HideUntil(places[7], At(5));
  EXPECT_TRUE(writes_.Begin("b", "k", nullptr, At(9)));
  EXPECT_FALSE(writes_.Begin("b", "l", nullptr, At(9)));
}

}  // namespace
}  // namespace penstock::emulator::faults
