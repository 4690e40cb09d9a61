#include "client/checkpoint/load/verification/rest_of_pieces.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::checkpoint {
namespace {

using Ranges = std::vector<ByteRange>;

Ranges RestOf(Ranges wanted, std::uint64_t budget = 1000) {
  return RestOfPieces(std::move(wanted), 95, 10, budget);
}

TEST(RestOfPiecesTest, TheEndsOfARangeAreCompleted) {
  EXPECT_EQ(RestOf({{13, 38}}), (Ranges{{10, 13}, {38, 40}}));
  EXPECT_EQ(RestOf({{13, 16}}), (Ranges{{10, 13}, {16, 20}}));
  EXPECT_EQ(RestOf({{91, 93}}), (Ranges{{90, 91}, {93, 95}}));
  EXPECT_EQ(RestOf({{20, 40}}), Ranges());
  EXPECT_EQ(RestOf({{90, 95}}), Ranges());
  EXPECT_EQ(RestOf({}), Ranges());
  EXPECT_EQ(RestOf({{5, 5}}), Ranges());
}

TEST(RestOfPiecesTest, OtherRangesOfThePieceAreNotReadTwice) {
  EXPECT_EQ(RestOf({{34, 36}, {12, 15}, {17, 33}}),
            (Ranges{{10, 12}, {15, 17}, {33, 34}, {36, 40}}));
  EXPECT_EQ(RestOf({{12, 18}, {12, 15}, {10, 13}}), (Ranges{{18, 20}}));
}

TEST(RestOfPiecesTest, APieceThatLacksTooManyBytesStaysIncomplete) {
  std::uint64_t budget = 6;
  EXPECT_EQ(RestOfPieces({{13, 38}, {51, 58}, {71, 79}}, 95, 10, budget),
            (Ranges{{10, 13}, {38, 40}}));
  EXPECT_EQ(budget, 1U);
}

// Each piece is either completed, or as it was.
TEST(RestOfPiecesTest, PiecesAreCompletedOrUnchanged) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t payload = 1 + random() % 60;
    const std::uint64_t piece = 1 + random() % payload;
    std::vector<bool> covered(payload);
    Ranges wanted;
    for (unsigned i = random() % 5; i > 0; --i) {
      const std::uint64_t begin = random() % payload;
      wanted.push_back({begin, begin + random() % (payload - begin + 1)});
      for (std::uint64_t at = begin; at < wanted.back().end; ++at) covered[at] = true;
    }
    const std::uint64_t before = random() % 30;
    std::uint64_t budget = before;
    const Ranges rest = RestOfPieces(wanted, payload, piece, budget);
    std::vector<bool> completed(payload);
    std::uint64_t bytes = 0;
    for (const ByteRange& range : rest) {
      for (std::uint64_t at = range.begin; at < range.end; ++at, ++bytes) {
        EXPECT_FALSE(covered[at] || completed[at]);
        completed[at] = true;
      }
    }
    EXPECT_EQ(before - budget, bytes);
    for (std::uint64_t begin = 0; begin < payload; begin += piece) {
      std::uint64_t wanted_bytes = 0;
      std::uint64_t added = 0;
      const std::uint64_t end = std::min(payload, begin + piece);
      for (std::uint64_t at = begin; at < end; ++at) {
        wanted_bytes += covered[at] ? 1 : 0;
        added += completed[at] ? 1 : 0;
      }
      if (added != 0) {
        EXPECT_TRUE(wanted_bytes != 0 && wanted_bytes + added == end - begin);
      } else if (wanted_bytes != 0 && wanted_bytes != end - begin) {
        EXPECT_GT(end - begin - wanted_bytes, budget);
      }
    }
  }
}

}  // namespace
}  // namespace penstock::checkpoint
