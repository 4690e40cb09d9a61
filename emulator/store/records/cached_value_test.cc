#include "emulator/store/records/cached_value.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace penstock::emulator::store {
namespace {

struct Number final : CachedValue::Value {
  Number(int value, std::atomic<int>& count) : number(value), alive(count) { ++alive; }
  ~Number() override { --alive; }
  const int number;
  std::atomic<int>& alive;
};

TEST(CachedValueTest, IsComputedOnceAndDestroyedWithItsRecord) {
  std::atomic<int> alive = 0;
  int made = 0;
  {
    const CachedValue cached;
    const auto make = [&] { return std::make_unique<const Number>(++made, alive); };
    EXPECT_EQ(cached.Get<Number>(make).number, 1);
    EXPECT_EQ(cached.Get<Number>(make).number, 1);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(CachedValueTest, ACopyComputesItsOwnValue) {
  std::atomic<int> alive = 0;
  int made = 0;
  const auto make = [&] { return std::make_unique<const Number>(++made, alive); };
  CachedValue cached;
  cached.Get<Number>(make);
  CachedValue copy(cached);
  EXPECT_EQ(copy.Get<Number>(make).number, 2);
  cached = copy;
  EXPECT_EQ(alive, 1) << "the replaced value is deleted";
  EXPECT_EQ(cached.Get<Number>(make).number, 3);
}

TEST(CachedValueTest, ConcurrentCallersGetTheSameValue) {
  std::atomic<int> alive = 0;
  const CachedValue cached;
  std::array<const Number*, 4> seen{};
  {
    std::latch start(4);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        seen[i] = &cached.Get<Number>(
            [&] { return std::make_unique<const Number>(static_cast<int>(i), alive); });
      });
    }
  }
  for (const Number* number : seen) EXPECT_EQ(number, seen[0]);
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace penstock::emulator::store
