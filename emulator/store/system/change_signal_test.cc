#include "emulator/store/system/change_signal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace penstock::emulator::store {
namespace {

MonotonicTime In(std::chrono::milliseconds wait) { return SystemClock().Monotonic() + wait; }

TEST(ChangeSignalTest, ANotificationEndsAWait) {
  ChangeSignal signal;
  const std::uint64_t seen = signal.count();
  std::thread notifier([&signal] { signal.Notify(); });
  signal.Await(seen, In(std::chrono::hours(1)));
  EXPECT_EQ(signal.count(), seen + 1);
  notifier.join();
}

TEST(ChangeSignalTest, ANotificationBeforeTheWaitIsNotLost) {
  ChangeSignal signal;
  const std::uint64_t seen = signal.count();
  signal.Notify();
  signal.Await(seen, In(std::chrono::hours(1)));
}

TEST(ChangeSignalTest, AWaitEndsAtItsDeadline) {
  ChangeSignal signal;
  signal.Await(signal.count(), In(std::chrono::milliseconds(1)));
  EXPECT_EQ(signal.count(), 0u);
}

}  // namespace
}  // namespace penstock::emulator::store
