#include "client/cache/eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <unordered_map>
#include <vector>

namespace penstock::cache {
namespace {

std::vector<BlockAge> Aged(std::vector<std::pair<std::int64_t, std::int64_t>> times) {
  std::vector<BlockAge> blocks;
  for (const auto& [stored, used] : times) blocks.push_back({stored, used, 10});
  return blocks;
}

std::vector<std::size_t> Victims(const EvictionPlan& plan, const std::vector<BlockAge>& blocks) {
  std::vector<std::size_t> victims;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (plan.Evicts(blocks[i])) victims.push_back(i);
  return victims;
}

TEST(EvictionTest, EvictsStaleBlocksFirstTheLeastRecentlyUsedOfThem) {
  const auto blocks = Aged({{1, 50}, {2, 20}, {3, 10}, {4, 30}, {5, 90}});
  EXPECT_EQ(Victims(PlanEviction(blocks, 20, 40), blocks), (std::vector<std::size_t>{1, 2}));
}

TEST(EvictionTest, WithoutStaleBlocksEvictsOfTheNewest) {
  std::vector<std::pair<std::int64_t, std::int64_t>> times;
  for (std::int64_t i = 0; i < 100; ++i) times.emplace_back(i, i);
  const auto blocks = Aged(times);
  EXPECT_EQ(Victims(PlanEviction(blocks, 20, INT64_MIN), blocks),
            (std::vector<std::size_t>{90, 91}));
}

TEST(EvictionTest, MayHaveToEvictEverything) {
  const auto blocks = Aged({{1, 1}, {2, 9}, {3, 3}});
  EXPECT_EQ(Victims(PlanEviction(blocks, 1000, 2), blocks), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(Victims(PlanEviction({}, 1000, 2), {}).empty());
}

TEST(EvictionTest, PruneTakesTheLeastRecentlyUsed) {
  const auto blocks = Aged({{1, 50}, {2, 20}, {3, 10}, {4, 30}, {5, 90}});
  EXPECT_EQ(Victims(PlanPrune(blocks, 25), blocks), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(Victims(PlanPrune(blocks, 0), blocks).empty());
}

TEST(ReadHistoryTest, ABlockIsStaleAfterThreeTimesTheLimitWasRead) {
  ReadHistory history;
  for (std::uint64_t read = 0; read <= 2000; read += 10)
    history.Record(read, 1600, static_cast<std::int64_t>(read) + 1);
  EXPECT_EQ(history.StaleBefore(), INT64_MIN);
  for (std::uint64_t read = 2000; read <= 8000; read += 10)
    history.Record(read, 1600, static_cast<std::int64_t>(read) + 1);
  EXPECT_EQ(history.StaleBefore(), 8001 - 3 * 1600);
}

TEST(ReadHistoryTest, AnotherLimitStartsAgain) {
  ReadHistory history;
  for (std::uint64_t read = 0; read <= 80'000; read += 10) history.Record(read, 1600, 5);
  history.Record(80'010, 1600'000, 6);
  EXPECT_EQ(history.LastTick(), 6);
}

// ---- the hit rates of docs/decisions/0108 ----

using Trace = std::vector<int>;

// As CacheFolder does: blocks of one byte, evictions of 5 %.
double HitRate(const Trace& trace, std::size_t limit) {
  std::unordered_map<int, BlockAge> blocks;
  ReadHistory history;
  std::uint64_t clock = 0, hits = 0;
  for (const int name : trace) {
    ++clock;
    history.Record(clock, limit, static_cast<std::int64_t>(clock));
    const auto now = static_cast<std::int64_t>(clock);
    if (const auto found = blocks.find(name); found != blocks.end()) {
      ++hits;
      found->second.used = now;
      continue;
    }
    if (blocks.size() + 1 > limit) {
      std::vector<BlockAge> ages;
      for (const auto& [id, age] : blocks) ages.push_back(age);
      const EvictionPlan plan =
          PlanEviction(ages, blocks.size() - (limit - limit / 20) + 1, history.StaleBefore());
      std::erase_if(blocks, [&](const auto& block) { return plan.Evicts(block.second); });
    }
    blocks[name] = {now, now, 1};
  }
  return static_cast<double>(hits) / static_cast<double>(trace.size());
}

double LruHitRate(const Trace& trace, std::size_t limit) {
  std::list<int> order;
  std::unordered_map<int, std::list<int>::iterator> places;
  std::uint64_t hits = 0;
  for (const int name : trace) {
    if (const auto found = places.find(name); found != places.end()) {
      ++hits;
      order.splice(order.end(), order, found->second);
      continue;
    }
    places[name] = order.insert(order.end(), name);
    if (order.size() <= limit) continue;
    places.erase(order.front());
    order.pop_front();
  }
  return static_cast<double>(hits) / static_cast<double>(trace.size());
}

Trace Epochs(int objects, int epochs, bool shuffled, int first = 0) {
  std::mt19937 random(3);
  Trace trace, epoch;
  for (int i = 0; i < objects; ++i) epoch.push_back(first + i);
  for (int i = 0; i < epochs; ++i) {
    if (shuffled) std::ranges::shuffle(epoch, random);
    trace.insert(trace.end(), epoch.begin(), epoch.end());
  }
  return trace;
}

Trace operator+(Trace first, const Trace& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

constexpr std::size_t kLimit = 500;

TEST(EvictionTest, LoopsOverMoreThanTheCacheStillHit) {
  // With 10 epochs over twice the cache, at most 0.45 of the reads can hit.
  const Trace loop = Epochs(2 * kLimit, 10, false);
  EXPECT_EQ(LruHitRate(loop, kLimit), 0);
  EXPECT_GT(HitRate(loop, kLimit), 0.38);
}

TEST(EvictionTest, ShuffledEpochsHitTwiceAsOftenAsWithLru) {
  const Trace shuffled = Epochs(2 * kLimit, 10, true);
  EXPECT_GT(HitRate(shuffled, kLimit), 2 * LruHitRate(shuffled, kLimit));
}

TEST(EvictionTest, AScanDoesNotEvictTheDataSet) {
  Trace trace;
  for (int epoch = 0; epoch < 10; ++epoch)
    trace =
        std::move(trace) + Epochs(400, 1, true) + Epochs(kLimit, 1, false, 10'000 * (epoch + 1));
  EXPECT_GT(HitRate(trace, kLimit), 0.38);  // of at most 0.40
}

TEST(EvictionTest, AnotherDataSetReplacesAnOldOne) {
  const Trace old = Epochs(400, 10, true);
  const Trace both = old + Epochs(400, 10, true, 10'000);
  EXPECT_GT(HitRate(both, kLimit), 0.75);  // of at most 0.90
}

}  // namespace
}  // namespace penstock::cache
