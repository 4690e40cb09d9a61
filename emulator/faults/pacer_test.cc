#include "emulator/faults/pacer.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;

TEST(PacerTest, WhoeverComesTakesTheNextStretchOfTime) {
  Pacer pacer(1'000);
  const MonotonicTime now{std::chrono::hours(1)};
  EXPECT_EQ(pacer.Take(100, now), now);
  EXPECT_EQ(pacer.Take(50, now), now + milliseconds(100));
  EXPECT_EQ(pacer.Take(1, now + milliseconds(10)), now + milliseconds(150));
}

TEST(PacerTest, NothingIsSavedUp) {
  Pacer pacer(1'000);
  const MonotonicTime now{std::chrono::hours(1)};
  pacer.Take(100, now);
  EXPECT_EQ(pacer.Take(100, now + milliseconds(5'000)), now + milliseconds(5'000));
  EXPECT_EQ(pacer.Take(100, now + milliseconds(5'000)), now + milliseconds(5'100));
}

TEST(PacersTest, ThoseOfOneNameShare) {
  Pacers pacers;
  EXPECT_EQ(pacers.Find("a", 10), pacers.Find("a", 10));
  EXPECT_NE(pacers.Find("a", 10), pacers.Find("b", 10));
}

TEST(PacersTest, BeyondTheirLimitTheyBeginAnew) {
  Pacers pacers;
  const auto first = pacers.Find("first", 10);
  for (std::size_t i = 1; i <= Pacers::kMost; ++i) pacers.Find(std::to_string(i), 10);
  EXPECT_NE(pacers.Find("first", 10), first);
}

}  // namespace
}  // namespace penstock::emulator::faults
