#include "emulator/traffic/draws.h"

#include <cmath>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

TEST(DrawsTest, SameInputGivesTheSameDraw) {
  EXPECT_EQ(Draws(7).Of("GetObject/b/k", 3), Draws(7).Of("GetObject/b/k", 3));
}

TEST(DrawsTest, SeedIdentityAndOrdinalEachChangeAllNumbers) {
  const Draw first = Draws(7).Of("a", 0);
  for (const Draw& other : {Draws(8).Of("a", 0), Draws(7).Of("b", 0), Draws(7).Of("a", 1)}) {
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], other[i]);
  }
}

// Computed with Python: hmac.new((7).to_bytes(8, "little"), b"a" + (0).to_bytes(8, "little"),
// "sha256").digest()[:8], as a big-endian number >> 11, times 2**-53.
TEST(DrawsTest, IsAnHmac) { EXPECT_DOUBLE_EQ(Draws(7).Of("a", 0)[0], 0.8687712938812233); }

TEST(DrawsTest, IsUniform) {
  const Draws draws(1);
  std::array<int, 10> tenths{};
  constexpr int kCount = 5'000;
  for (int i = 0; i < kCount; ++i) {
    for (const double value : draws.Of("x", static_cast<std::uint64_t>(i))) {
      ASSERT_GE(value, 0);
      ASSERT_LT(value, 1);
      ++tenths[static_cast<std::size_t>(value * 10)];
    }
  }
  for (const int count : tenths)
    EXPECT_NEAR(count, kCount * 4 / 10, 5 * std::sqrt(kCount * 4 * 0.09));
}

TEST(DrawsTest, NormalHasMeanZeroAndDeviationOne) {
  const Draws draws(1);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 10'000;
  for (int i = 0; i < kCount; ++i) {
    const Draw draw = draws.Of("n", static_cast<std::uint64_t>(i));
    const double value = Normal(draw[0], draw[1]);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.05);
  EXPECT_NEAR(squares / kCount, 1, 0.05);
}

}  // namespace
}  // namespace penstock::emulator::traffic
