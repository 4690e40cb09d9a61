#include "emulator/traffic/occurrence_counter.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

TEST(OccurrenceCounterTest, CountsEachIdentitySeparately) {
  OccurrenceCounter arrivals;
  EXPECT_EQ(arrivals.Next(1), 0U);
  EXPECT_EQ(arrivals.Next(17), 0U) << "an identity in the same shard";
  EXPECT_EQ(arrivals.Next(1), 1U);
  EXPECT_EQ(arrivals.Next(17), 1U);
  arrivals.Clear();
  EXPECT_EQ(arrivals.Next(1), 0U);
}

TEST(OccurrenceCounterTest, ConcurrentCallsGetDistinctNumbers) {
  OccurrenceCounter arrivals;
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) sum += arrivals.Next(5);
    });
  }
  threads.clear();
  EXPECT_EQ(sum, 4'000U * 3'999 / 2);
}

}  // namespace
}  // namespace penstock::emulator::traffic
