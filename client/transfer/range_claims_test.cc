#include "client/transfer/range_claims.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock::transfer {
namespace {

TEST(RangeClaims, TakesAlignedPartsFromTheEndUntilTheFront) {
  RangeClaims claims({100, 195}, 10);
  EXPECT_EQ(claims.TakePart(40), (ByteRange{180, 195}));
  EXPECT_EQ(claims.TakePart(40), (ByteRange{140, 180}));
  EXPECT_EQ(claims.TakePart(40), (ByteRange{110, 140}));
  EXPECT_FALSE(claims.TakePart(40).has_value());
  EXPECT_EQ(claims.Grant(110, 5), 110u);
}

TEST(RangeClaims, FrontAdvancesStepByStep) {
  RangeClaims claims({0, 100}, 30);
  EXPECT_EQ(claims.granted(), 30u);
  EXPECT_EQ(claims.Grant(30, 50), 80u);
  EXPECT_EQ(claims.Grant(80, 50), 100u);
  EXPECT_EQ(claims.Grant(100, 50), 100u);
}

TEST(RangeClaims, RestartedFrontKeepsItsGrant) {
  RangeClaims claims({0, 100}, 30);
  EXPECT_EQ(claims.Grant(30, 20), 50u);
  ASSERT_TRUE(claims.TakePart(50).has_value());
  EXPECT_EQ(claims.Grant(0, 20), 50u);
  EXPECT_EQ(claims.Grant(50, 20), 50u);
}

TEST(RangeClaims, LeavesLessThanHalfAPartToTheFront) {
  RangeClaims claims({0, 100}, 61);
  EXPECT_FALSE(claims.TakePart(80).has_value());
  EXPECT_EQ(claims.TakePart(78), (ByteRange{78, 100}));
}

TEST(RangeClaims, EveryByteIsFetchedOnceInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t begin = random() % 50;
    const ByteRange whole{begin, begin + 1 + random() % 500};
    RangeClaims claims(whole, 1 + random() % 40);
    std::vector<int> fetched(whole.end, 0);
    std::uint64_t front = claims.granted();
    for (bool moved = true; moved;) {
      if (random() % 2 == 0) {
        if (const auto part = claims.TakePart(1 + random() % 60)) {
          for (std::uint64_t i = part->begin; i < part->end; ++i) ++fetched[i];
        }
      }
      const std::uint64_t next = claims.Grant(front, 1 + random() % 30);
      moved = next != front;
      front = next;
    }
    for (std::uint64_t i = whole.begin; i < front; ++i) ++fetched[i];
    for (std::uint64_t i = whole.begin; i < whole.end; ++i)
      ASSERT_EQ(fetched[i], 1) << "seed " << seed << " byte " << i;
  }
}

}  // namespace
}  // namespace penstock::transfer
