#include "client/checkpoint/load/item_engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::FaultyObjectStore;
using Kind = LoadEvent::Kind;

constexpr std::int64_t kElements = 1000;

// Items of 1,000 int32s. Element i of item n is 10'000 * n + i.
class ItemEngineTest : public ::testing::Test {
 protected:
  ItemEngineTest() {
    limits_.batch_items = 1;
    for (int n = 0; n < 6; ++n) {
      items_.push_back(ItemArchive({"int32", {kElements}, {1}, 0, "0", kElements * 4}, Payload(n)));
      object_ += items_.back();
    }
    Put(store_, "object", object_);
    const auto archive = ReadTensorArchive({{}, 0, AsBytes(items_[0])});
    trailer_ = items_[0].size() - archive->payload_begin - archive->payload_bytes;
  }

  static std::string Payload(int n) {
    std::vector<std::int32_t> values(kElements);
    std::iota(values.begin(), values.end(), 10'000 * n);
    return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
  }

  // The item with a read of the elements [first, first + memory.size()).
  LoadItem Reading(int n, std::int64_t first, std::vector<std::int32_t>& memory) {
    LoadItem item;
    item.name = "item " + std::to_string(n);
    item.bucket = kBucket;
    item.key = ObjectKey("object");
    for (int before = 0; before < n; ++before) item.begin += items_[before].size();
    item.length = items_[n].size();
    item.dtype = "int32";
    item.item_bytes = 4;
    item.sizes = {kElements};
    item.reads.push_back(ReadOf(first, memory));
    return item;
  }
  static BoxRead ReadOf(std::int64_t first, std::vector<std::int32_t>& memory) {
    return {{{first}, {static_cast<std::int64_t>(memory.size())}},
            {reinterpret_cast<std::byte*>(memory.data()), {1}},
            4,
            {},
            true};
  }
  static bool Holds(const std::vector<std::int32_t>& memory, int n, std::int64_t first = 0) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] != 10'000 * n + first + static_cast<std::int64_t>(i)) return false;
    }
    return true;
  }

  // Takes events until the engine is idle.
  std::vector<LoadEvent> Drain(ItemEngine& engine) {
    std::vector<LoadEvent> all;
    while (!engine.is_idle()) {
      auto events = engine.Next(true);
      EXPECT_TRUE(events.ok()) << events.error().message;
      if (!events.ok()) break;
      all.insert(all.end(), events->begin(), events->end());
    }
    return all;
  }

  std::shared_ptr<FaultyObjectStore> store_ =
      std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  LoadContext context_{store_, {}, {}};
  LearnedTrailers trailers_;
  EngineLimits limits_;
  std::vector<std::string> items_;
  std::string object_;
  std::uint64_t trailer_ = 0;
};

TEST_F(ItemEngineTest, PredictedItemsArriveInTheirMemory) {
  trailers_.Learn(kElements * 4, trailer_);
  limits_.batch_items = 512;
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::vector<std::int32_t>> memory(6, std::vector<std::int32_t>(kElements));
  for (int n = 0; n < 6; ++n) {
    ASSERT_TRUE(engine.Add(n, Reading(n, 0, memory[n])).ok());
    EXPECT_FALSE(engine.is_full());
  }
  const auto events = Drain(engine);
  ASSERT_EQ(events.size(), 6U);
  for (int n = 0; n < 6; ++n) {
    EXPECT_EQ(events[n].kind, Kind::kLoaded);
    EXPECT_EQ(events[n].token, static_cast<std::uint64_t>(n));
    EXPECT_TRUE(Holds(memory[n], n));
  }
  EXPECT_EQ(store_->count("GetObject"), 1U);
  EXPECT_EQ(engine.usage().mispredicted, 0U);
}

TEST_F(ItemEngineTest, UnknownTrailersAreLearnedFromWholeItems) {
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> one(kElements);
  ASSERT_TRUE(engine.Add(1, Reading(1, 0, one)).ok());
  auto events = Drain(engine);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Kind::kWhole);
  EXPECT_EQ(AsText(events[0].bytes), items_[1]);
  EXPECT_EQ(events[0].reads, std::vector<std::size_t>{0});
  ASSERT_TRUE(engine.Add(2, Reading(1, 0, one)).ok());
  ASSERT_TRUE(engine.Next(false).ok());  // applies what was learned
  EXPECT_TRUE(trailers_.Find(kElements * 4, items_[1].size() - kElements * 4).has_value());
}

TEST_F(ItemEngineTest, EndsOfLargeItemsAreReadFirst) {
  limits_.probe_bytes = 100;
  const std::string payload(40'000, 'x');
  items_ = {ItemArchive({"int32", {10'000}, {1}, 0, "0", payload.size()}, payload)};
  Put(store_, "object", items_[0]);
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> memory(500);
  LoadItem item = Reading(0, 100, memory);
  item.sizes = {10'000};
  ASSERT_TRUE(engine.Add(1, item).ok());
  EXPECT_TRUE(engine.is_full());
  const auto events = Drain(engine);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Kind::kLoaded);
  EXPECT_EQ(std::memcmp(memory.data(), payload.data(), 2000), 0);
  EXPECT_EQ(engine.usage().probes, 1U);
}

TEST_F(ItemEngineTest, AWrongPredictionIsFetchedAgainAndLearned) {
  trailers_.Learn(kElements * 4, trailer_ + 64);
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> part(10);
  std::vector<std::int32_t> whole(kElements);
  ASSERT_TRUE(engine.Add(1, Reading(1, 5, part)).ok());
  ASSERT_TRUE(engine.Add(2, Reading(2, 0, whole)).ok());
  for (const LoadEvent& event : Drain(engine)) {
    EXPECT_EQ(event.kind, Kind::kWhole);
    EXPECT_EQ(AsText(event.bytes), items_[event.token]);
  }
  EXPECT_EQ(engine.usage().mispredicted, 2U);
  ASSERT_TRUE(engine.Next(true).ok());
  EXPECT_EQ(trailers_.Find(kElements * 4, items_[1].size() - kElements * 4), trailer_);
}

TEST_F(ItemEngineTest, ATrailerThatLeavesNoRoomForAHeaderIsUnknown) {
  class TooLarge final : public TrailerSizes {
    std::optional<std::uint64_t> Find(std::uint64_t, std::uint64_t around) const override {
      return around + 64;
    }
    void Learn(std::uint64_t, std::uint64_t) override {}
  };
  TooLarge trailers;
  ItemEngine engine(context_, trailers, limits_);
  std::vector<std::int32_t> memory(kElements);
  ASSERT_TRUE(engine.Add(1, Reading(1, 0, memory)).ok());
  const auto events = Drain(engine);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Kind::kWhole);
  EXPECT_EQ(AsText(events[0].bytes), items_[1]);
}

TEST_F(ItemEngineTest, ReadsOfOneMemoryWaitForEachOther) {
  trailers_.Learn(kElements * 4, trailer_);
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> memory(kElements);
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(engine.Add(n, Reading(n, 0, memory)).ok());
    EXPECT_EQ(engine.is_full(), n > 0);
  }
  for (int n = 0; n < 3;) {
    const auto events = engine.Next(true);
    ASSERT_TRUE(events.ok());
    if (events->empty()) continue;
    ASSERT_EQ(events->size(), 1U);
    EXPECT_EQ((*events)[0].token, static_cast<std::uint64_t>(n));
    EXPECT_TRUE(Holds(memory, n)) << n;
    ++n;
  }
  EXPECT_TRUE(engine.Next(true).ok());
  EXPECT_TRUE(engine.is_idle());
}

TEST_F(ItemEngineTest, ReadsOfOneItemIntoOneMemoryArriveOneAfterTheOther) {
  trailers_.Learn(kElements * 4, trailer_);
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> memory(100);
  LoadItem item = Reading(1, 0, memory);
  for (const std::int64_t first : {200, 50}) item.reads.push_back(ReadOf(first, memory));
  const std::int64_t firsts[] = {0, 200, 50};
  ASSERT_TRUE(engine.Add(7, item).ok());
  std::size_t taken = 0;
  while (!engine.is_idle()) {
    const auto events = engine.Next(true);
    ASSERT_TRUE(events.ok());
    for (const LoadEvent& event : *events) {
      ASSERT_EQ(event.reads, std::vector<std::size_t>{taken});
      EXPECT_TRUE(Holds(memory, 1, firsts[taken]));
      ++taken;
    }
  }
  EXPECT_EQ(taken, 3U);
}

TEST_F(ItemEngineTest, ElementsToConvertAreGivenToTheCaller) {
  trailers_.Learn(kElements * 4, trailer_);
  for (const std::uint64_t part_bytes : {1 << 20, 400}) {  // at once; in pieces
    limits_.part_bytes = part_bytes;
    ItemEngine engine(context_, trailers_, limits_);
    std::vector<std::int32_t> memory(kElements);
    std::vector<std::int32_t> found(kElements);
    LoadItem item = Reading(1, 0, memory);
    item.reads[0].is_direct = false;
    ASSERT_TRUE(engine.Add(1, item).ok());
    std::size_t loaded = 0;
    while (!engine.is_idle()) {
      const auto events = engine.Next(true);
      ASSERT_TRUE(events.ok());
      for (const LoadEvent& event : *events) {
        if (event.kind == Kind::kLoaded) ++loaded;
        if (event.kind != Kind::kPart) continue;
        EXPECT_EQ(loaded, 0U);
        EXPECT_EQ(event.at % 64, 0U);
        std::memcpy(found.data() + event.box.offsets[0], event.scratch->bytes().data() + event.at,
                    event.box.elements() * 4);
      }
    }
    EXPECT_EQ(loaded, 1U);
    EXPECT_TRUE(Holds(found, 1));
    EXPECT_EQ(memory, std::vector<std::int32_t>(kElements));
    engine.ClearScratch();
  }
}

TEST_F(ItemEngineTest, DamageIsFoundInPieces) {
  trailers_.Learn(kElements * 4, trailer_);
  object_[items_[0].size() + items_[1].size() / 2] ^= 1;
  Put(store_, "object", object_);
  for (const std::uint64_t unit_bytes : {1 << 20, 700}) {
    limits_.unit_bytes = unit_bytes;
    ItemEngine engine(context_, trailers_, limits_);
    std::vector<std::int32_t> memory(kElements);
    ASSERT_TRUE(engine.Add(1, Reading(1, 0, memory)).ok());
    Result<std::vector<LoadEvent>> events = std::vector<LoadEvent>();
    while (events.ok() && !engine.is_idle()) events = engine.Next(true);
    ASSERT_FALSE(events.ok());
    EXPECT_EQ(events.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(events.error().message.find("item 'item 1': bytes " +
                                          std::to_string(items_[0].size()) + " to "),
              std::string::npos)
        << events.error().message;
    EXPECT_EQ(events.error().key, "object");
  }
}

TEST_F(ItemEngineTest, TheWindowBoundsWhatIsInFlight) {
  trailers_.Learn(kElements * 4, trailer_);
  limits_.window_bytes = 2 * items_[0].size();
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::vector<std::int32_t>> memory(6, std::vector<std::int32_t>(kElements));
  for (int n = 0; n < 6; ++n) {
    ASSERT_TRUE(engine.Add(n, Reading(n, 0, memory[n])).ok());
    EXPECT_EQ(engine.is_full(), n >= 2) << n;
    while (engine.is_full()) ASSERT_TRUE(engine.Next(false).ok());
  }
  Drain(engine);
  for (int n = 0; n < 6; ++n) EXPECT_TRUE(Holds(memory[n], n));
}

}  // namespace
}  // namespace penstock::checkpoint
