#include "client/transfer/thread_use.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace penstock::transfer {
namespace {

using std::chrono::nanoseconds;

TEST(ThreadMeter, CpuTimeGrowsWithWork) {
  const ThreadMeter meter = ThreadMeter::Start();
  const ThreadUse before = meter.Used();
  volatile std::uint64_t sum = 0;
  while (meter.Used().cpu == before.cpu) sum = sum + 1;
  EXPECT_GT(meter.Used().cpu, before.cpu);
  EXPECT_GE(meter.Used().elapsed, before.elapsed);
}

TEST(ThreadMeter, OtherThreadsAndMetersWithoutAStartMeasureNothing) {
  const ThreadMeter meter = ThreadMeter::Start();
  ThreadUse of_other{.cpu = nanoseconds(1), .elapsed = nanoseconds(1)};
  std::thread([&] { of_other = meter.Used(); }).join();
  for (const ThreadUse& use : {of_other, ThreadMeter().Used()}) {
    EXPECT_EQ(use.cpu, nanoseconds(0));
    EXPECT_EQ(use.elapsed, nanoseconds(0));
  }
}

}  // namespace
}  // namespace penstock::transfer
