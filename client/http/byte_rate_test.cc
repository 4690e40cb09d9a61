#include "client/http/byte_rate.h"

#include <gtest/gtest.h>

#include <chrono>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using Direction = ByteRate::Direction;

constexpr MonotonicTime kNow{std::chrono::hours(5)};

TEST(ByteRateTest, TheNextBytesWaitUntilTheRateHasPaidForTheLastOnes) {
  ByteRate rate(100'000);
  EXPECT_LE(rate.ReadyAt(Direction::kReceive), kNow);
  rate.Add(Direction::kReceive, 10'000, kNow);
  EXPECT_EQ(rate.ReadyAt(Direction::kReceive), kNow + milliseconds(80));  // 100 ms, less the burst
  rate.Add(Direction::kReceive, 10'000, kNow);
  EXPECT_EQ(rate.ReadyAt(Direction::kReceive), kNow + milliseconds(180));
}

TEST(ByteRateTest, EachDirectionHasTheWholeRate) {
  ByteRate rate(100'000);
  rate.Add(Direction::kSend, 1'000'000, kNow);
  EXPECT_LE(rate.ReadyAt(Direction::kReceive), kNow);
  EXPECT_GT(rate.ReadyAt(Direction::kSend), kNow + std::chrono::seconds(9));
}

TEST(ByteRateTest, IdleTimeIsNotSaved) {
  ByteRate rate(100'000);
  rate.Add(Direction::kSend, 1, kNow);
  const MonotonicTime later = kNow + std::chrono::hours(1);
  rate.Add(Direction::kSend, 100'000, later);
  EXPECT_EQ(rate.ReadyAt(Direction::kSend), later + milliseconds(980));
}

TEST(ByteRateTest, SlicesAreTwentyMillisecondsWithinBounds) {
  EXPECT_EQ(ByteRate(65'536).slice(), 4096u);
  EXPECT_EQ(ByteRate(1'000'000).slice(), 20'000u);
  EXPECT_EQ(ByteRate(10'000'000'000).slice(), 256u << 10);
}

}  // namespace
}  // namespace penstock::http
