#include "client/checkpoint/load/item_engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::FaultyObjectStore;
using Kind = LoadEvent::Kind;

constexpr std::int64_t kElements = 1000;

// Holds the calls of GetObject until Release. A damaged item is an error at once.
class HoldingStore final : public FaultyObjectStore {
 public:
  explicit HoldingStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  ~HoldingStore() override { Release(); }
  bool may_repeat() const override { return false; }

  using FaultyObjectStore::Start;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    const std::lock_guard lock(mutex_);
    held_.emplace_back(std::move(request), std::move(done));
  }
  // Each call that was cancelled in the meantime ends without an effect.
  void Release() {
    std::unique_lock lock(mutex_);
    auto held = std::exchange(held_, {});
    lock.unlock();
    for (auto& [request, done] : held) {
      if (request.options.cancel.stop_requested()) {
        done(Error::Make(ErrorKind::kCancelled, "cancelled"));
      } else {
        FaultyObjectStore::Start(std::move(request), std::move(done));
      }
    }
  }
  std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<GetObjectRequest, Callback<ObjectMetadata>>> held_;
};

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

TEST_F(ItemEngineTest, ACancelledEngineWritesNoMoreAndRefusesCalls) {
  trailers_.Learn(kElements * 4, trailer_);
  object_[items_[0].size() / 2] ^= 1;
  Put(store_, "object", object_);
  const auto holding = std::make_shared<HoldingStore>(store_);
  context_.store = holding;
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::vector<std::int32_t>> memory(3, std::vector<std::int32_t>(kElements));
  ASSERT_TRUE(engine.Add(0, Reading(0, 0, memory[0])).ok());
  ASSERT_TRUE(engine.Add(1, Reading(1, 0, memory[1])).ok());
  engine.Start();
  ASSERT_EQ(holding->held(), 1U);
  holding->Release();
  const auto failed = engine.Next(true);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kDataLoss);
  ASSERT_EQ(holding->held(), 1U);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    holding->Release();
  });
  engine.Cancel();
  EXPECT_EQ(holding->held(), 0U);
  EXPECT_EQ(memory[1], std::vector<std::int32_t>(kElements));
  release.join();
  const auto added = engine.Add(2, Reading(2, 0, memory[2]));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, ErrorKind::kCancelled);
  engine.Start();
  EXPECT_FALSE(engine.Next(true).ok());
  EXPECT_EQ(holding->held(), 0U);
  EXPECT_EQ(engine.usage().ranges.requests, 2U);
  engine.Cancel();
}

TEST_F(ItemEngineTest, AHugeItemIsComparedWithTheSizeOfItsObject) {
  std::vector<std::int32_t> memory(kElements);
  std::uint64_t most = 0;  // allocated at a time
  ItemEngine engine(context_, trailers_, limits_, [&most](std::uint64_t bytes) {
    most = std::max(most, bytes);
    return AllocateFromHeap(bytes);
  });
  LoadItem item = Reading(1, 0, memory);
  item.length = std::uint64_t{1} << 40;
  const std::string expected = "item 'item 1': 1099511627776 bytes from byte " +
                               std::to_string(item.begin) + " end beyond the object, which has " +
                               std::to_string(object_.size()) + " bytes: the object is truncated";
  const auto added = engine.Add(1, item);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(added.error().message.find(expected), std::string::npos) << added.error().message;
  EXPECT_NE(added.error().message.find("load another checkpoint"), std::string::npos);
  EXPECT_LT(most, std::uint64_t{1} << 30);
}

TEST_F(ItemEngineTest, AnObjectThatCannotContainTheItemIsRefused) {
  ItemEngine engine(context_, trailers_, limits_);
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::pair<std::uint64_t, std::uint64_t> places[] = {
      {0, kMax}, {0, kMax - 63}, {0, kMax / 2}, {kMax, 100}, {kMax / 2, 1}};
  for (const auto& [begin, length] : places) {
    LoadItem item;
    item.name = "hostile";
    item.bucket = kBucket;
    item.key = ObjectKey("object");
    item.begin = begin;
    item.length = length;
    item.reads.push_back({});
    const auto added = engine.Add(0, std::move(item));
    ASSERT_FALSE(added.ok()) << begin << " " << length;
    EXPECT_EQ(added.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(added.error().message.find("'hostile'"), std::string::npos) << added.error().message;
    EXPECT_EQ(added.error().key, "object");
    EXPECT_FALSE(engine.has_planned());
  }
  EXPECT_TRUE(engine.is_idle());
}

std::size_t DenseElements(const Dimensions& sizes) {
  return static_cast<std::size_t>(Box{sizes, sizes}.elements());
}

// Items of 100 rows of 10 int32s, of which boxes are read.
class ItemEngineBoxTest : public ItemEngineTest {
 protected:
  ItemEngineBoxTest() { Store(Payload(0)); }

  void Store(const std::string& payload, Dimensions strides = {10, 1}) {
    items_ = {ItemArchive({"int32", {100, 10}, std::move(strides), 0, "0", 4000}, payload)};
    PutItem();
  }
  // Stores the only item, and learns its trailer.
  void PutItem() {
    object_ = items_[0];
    Put(store_, "object", object_);
    const auto archive = ReadTensorArchive({{}, 0, AsBytes(object_)});
    ASSERT_TRUE(archive.has_value());
    const std::uint64_t payload = archive->payload_bytes;
    trailers_.Learn(payload, object_.size() - archive->payload_begin - payload);
  }
  // Flips a bit of an element.
  void Damage(std::int64_t row, std::int64_t column) {
    object_[object_.find(Payload(0)) + (row * 10 + column) * 4] ^= 1;
    Put(store_, "object", object_);
  }
  LoadItem ReadingBoxes(const std::vector<Box>& boxes, std::vector<std::int32_t>& memory,
                        bool is_direct = true) {
    std::int64_t elements = 0;
    for (const Box& box : boxes) elements += box.elements();
    memory.assign(elements, 0);
    LoadItem item = Reading(0, 0, memory);
    item.sizes = {100, 10};
    item.reads.clear();
    std::int32_t* at = memory.data();
    for (const Box& box : boxes) {
      item.reads.push_back(
          {box, {reinterpret_cast<std::byte*>(at), {box.lengths[1], 1}}, 4, {}, is_direct});
      at += box.elements();
    }
    return item;
  }
  Result<std::vector<LoadEvent>> Load(LoadItem item) {
    ItemEngine engine(context_, trailers_, limits_);
    PENSTOCK_TRY(engine.Add(0, std::move(item)));
    std::vector<LoadEvent> all;
    while (!engine.is_idle()) {
      PENSTOCK_ASSIGN(auto events, engine.Next(true));
      all.insert(all.end(), events.begin(), events.end());
    }
    return all;
  }
};

// Boxes of which the engine fetches all of the payload: with the gaps between short rows, or all
// together, also if they overlap.
TEST_F(ItemEngineBoxTest, DamageIsFoundWheneverTheWholePayloadIsFetched) {
  const std::vector<std::vector<Box>> fetched = {
      {{{0, 0}, {100, 5}}},
      {{{0, 5}, {100, 5}}},
      {{{0, 0}, {60, 10}}, {{40, 0}, {60, 10}}},
      {{{30, 2}, {70, 3}}, {{0, 0}, {50, 10}}},
  };
  std::vector<std::int32_t> memory;
  for (const bool is_direct : {true, false}) {
    for (const std::uint64_t part_bytes : {1 << 20, 400}) {  // at once; in pieces
      limits_.part_bytes = part_bytes;
      for (std::size_t i = 0; i < fetched.size(); ++i) {
        Store(Payload(0));
        const auto good = Load(ReadingBoxes(fetched[i], memory, is_direct));
        ASSERT_TRUE(good.ok()) << good.error().message;
        EXPECT_EQ(good->back().kind, Kind::kLoaded);
        for (const auto& [row, column] : {std::pair(0, 3), std::pair(45, 7), std::pair(99, 9)}) {
          Store(Payload(0));
          Damage(row, column);
          const auto events = Load(ReadingBoxes(fetched[i], memory, is_direct));
          ASSERT_FALSE(events.ok()) << i << " " << row << " " << part_bytes << " " << is_direct;
          EXPECT_NE(events.error().message.find("CRC-32"), std::string::npos);
        }
      }
    }
  }
}

TEST_F(ItemEngineBoxTest, ColumnsInTheirMemoryAreVerifiedTogether) {
  const std::string payload = RandomBytes(20 * 4000 * 4, 1);
  items_ = {ItemArchive({"int32", {20, 4000}, {4000, 1}, 0, "0", payload.size()}, payload)};
  PutItem();
  for (const bool is_damaged : {false, true}) {
    if (is_damaged) object_[object_.find(payload) + 100'000] ^= 1;
    Put(store_, "object", object_);
    std::vector<std::int32_t> memory(20 * 4000);
    LoadItem item = Reading(0, 0, memory);
    item.sizes = {20, 4000};
    item.reads.clear();
    for (const std::int64_t column : {2000, 0}) {
      item.reads.push_back({{{0, column}, {20, 2000}},
                            {reinterpret_cast<std::byte*>(memory.data() + column), {4000, 1}},
                            4,
                            {0, column},
                            true});
    }
    EXPECT_EQ(Load(item).ok(), !is_damaged);
    EXPECT_EQ(std::memcmp(memory.data(), payload.data(), payload.size()) == 0, !is_damaged);
  }
}

TEST_F(ItemEngineBoxTest, APartialReadWithoutTheRestIgnoresOtherDamage) {
  limits_.extra_bytes = 0;
  limits_.extra_share = 1 << 20;
  Damage(70, 0);
  std::vector<std::int32_t> memory;
  const auto events = Load(ReadingBoxes({{{0, 0}, {60, 10}}}, memory));
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(events->back().kind, Kind::kLoaded);
}

// The sum of (size - 1) * stride of the first is 0 modulo 2^64.
TEST_F(ItemEngineBoxTest, HostileStridesAreLeftToTheCaller) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const std::pair<Dimensions, Dimensions> stored[] = {
      {{3, 3}, {kHuge + (std::int64_t{1} << 40), kHuge - (std::int64_t{1} << 40)}},
      {{3, 3}, {kHuge, kHuge}},
      {{2, 5}, {std::numeric_limits<std::int64_t>::max(), 1}},
      {{9}, {std::int64_t{1} << 61}},
      {{3, 3}, {3, 2}},
  };
  for (const auto& [sizes, strides] : stored) {
    const std::size_t elements = DenseElements(sizes);
    const std::string payload(elements * 4, 'a');
    items_ = {ItemArchive({"int32", sizes, strides, 0, "0", payload.size()}, payload)};
    PutItem();
    std::vector<std::int32_t> memory(elements);
    LoadItem item = Reading(0, 0, memory);
    item.sizes = sizes;
    item.reads[0].box = {Dimensions(sizes.size()), sizes};
    item.reads[0].memory.strides = RowMajorStrides(sizes);
    const auto events = Load(item);
    ASSERT_TRUE(events.ok()) << events.error().message;
    ASSERT_EQ(events->size(), 1U);
    EXPECT_EQ(events->front().kind, Kind::kWhole);
    EXPECT_EQ(AsText(events->front().bytes), items_[0]);
  }
}

TEST_F(ItemEngineBoxTest, OtherStoredStridesAreReorderedInTheMemory) {
  std::string turned(4000, '\0');
  for (std::int32_t i = 0; i < kElements; ++i) {
    const std::int32_t value = i;
    std::memcpy(turned.data() + (i % 10 * 100 + i / 10) * 4, &value, 4);
  }
  Store(turned, {1, 100});
  std::vector<std::int32_t> memory;
  const auto events = Load(ReadingBoxes({{{0, 0}, {100, 10}}}, memory));
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(events->front().kind, Kind::kLoaded);
  EXPECT_TRUE(Holds(memory, 0));
}

TEST_F(ItemEngineTest, AnUnexpectedItemInMemoryIsNotFetchedAgain) {
  trailers_.Learn(kElements * 4, trailer_);
  items_[0] = ItemArchive({"float32", {kElements}, {1}, 0, "0", kElements * 4}, Payload(0));
  Put(store_, "object", items_[0]);
  limits_.unit_bytes = 700;
  ItemEngine engine(context_, trailers_, limits_);
  std::vector<std::int32_t> memory(kElements);
  ASSERT_TRUE(engine.Add(0, Reading(0, 0, memory)).ok());
  const auto events = Drain(engine);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Kind::kWhole);
  EXPECT_EQ(AsText(events[0].bytes), items_[0]);
  EXPECT_EQ(engine.usage().mispredicted, 1U);
  EXPECT_EQ(engine.usage().ranges.bytes_wanted, items_[0].size());
}

TEST_F(ItemEngineBoxTest, PartsWithoutWantedElementsAreNotFetched) {
  limits_.part_bytes = 16;  // of a row of 40
  std::vector<std::int32_t> memory;
  std::vector<std::int32_t> found(100 * 2);
  ItemEngine engine(context_, trailers_, limits_);
  ASSERT_TRUE(engine.Add(0, ReadingBoxes({{{0, 0}, {100, 2}}}, memory, false)).ok());
  while (!engine.is_idle()) {
    const auto events = engine.Next(true);
    ASSERT_TRUE(events.ok());
    for (const LoadEvent& event : *events) {
      if (event.kind != Kind::kPart) continue;
      EXPECT_EQ(event.box, (Box{{event.box.offsets[0], 0}, {1, 4}}));
      EXPECT_EQ(event.wanted, (Box{{event.box.offsets[0], 0}, {1, 2}}));
      std::memcpy(found.data() + event.box.offsets[0] * 2, event.scratch->bytes().data() + event.at,
                  8);
    }
  }
  for (std::int32_t i = 0; i < 200; ++i) EXPECT_EQ(found[i], i / 2 * 10 + i % 2);
}

}  // namespace
}  // namespace penstock::checkpoint
