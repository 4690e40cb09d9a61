#include "client/transfer/download/range_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using Extents = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // begin, size

std::vector<RangePiece> PiecesIn(Bytes& memory, const Extents& extents) {
  std::vector<RangePiece> pieces;
  for (const auto& [begin, size] : extents)
    pieces.push_back({begin, MutableByteView(memory).subspan(begin, size)});
  return pieces;
}

std::vector<ByteRange> Plan(const Extents& extents, std::uint64_t gap, std::uint64_t most) {
  Bytes memory(1 << 16);
  return PlanRequests(PiecesIn(memory, extents), gap, most);
}

using Ranges = std::vector<ByteRange>;

TEST(RangePlanTest, PiecesWithinTheGapAreOneRequest) {
  EXPECT_EQ(Plan({{0, 10}, {10, 10}, {25, 5}, {36, 4}}, 5, 1000), (Ranges{{0, 30}, {36, 40}}));
}

TEST(RangePlanTest, WithoutAGapOnlyAdjacentPiecesAreJoined) {
  EXPECT_EQ(Plan({{0, 10}, {10, 10}, {21, 5}}, 0, 1000), (Ranges{{0, 20}, {21, 26}}));
}

TEST(RangePlanTest, LongRangesAreSplit) {
  EXPECT_EQ(Plan({{5, 25}}, 0, 10), (Ranges{{5, 15}, {15, 25}, {25, 30}}));
}

TEST(RangePlanTest, RequestStartsAndEndsWithBytesOfAPiece) {
  // The cut at 10 is in a gap: the first request ends before the gap, the second starts after it.
  EXPECT_EQ(Plan({{0, 8}, {14, 6}}, 6, 10), (Ranges{{0, 8}, {14, 20}}));
}

TEST(RangePlanTest, NoPiecesGiveNoRequest) { EXPECT_TRUE(Plan({}, 10, 10).empty()); }

TEST(RangePlanTest, RejectsPiecesBeyondTheMaximumOffset) {
  Bytes memory(100);
  EXPECT_TRUE(CheckPieces(PiecesIn(memory, {{0, 10}, {10, 10}})).ok());
  const std::vector<RangePiece> beyond = {{INT64_MAX, memory}};
  const auto checked = CheckPieces(beyond);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::kInvalidArgument);
}

// 100 pieces of 1 MiB. The memory is never accessed.
std::vector<RangePiece> Megabytes(std::uint64_t gap) {
  std::vector<RangePiece> pieces;
  std::byte* const nowhere = nullptr;
  for (std::uint64_t i = 0; i < 100; ++i)
    pieces.push_back({i * ((1 << 20) + gap), MutableByteView(nowhere, 1 << 20)});
  return pieces;
}

TEST(RangePlanTest, ReadsThroughGapsUpToOneSixtyFourth) {
  EXPECT_EQ(GapWorthReading(Megabytes(1000)), 32u << 10);
  EXPECT_EQ(GapWorthReading(Megabytes(40 << 10)), 32u << 10);  // 3.9 % of all
  auto pieces = Megabytes(0);
  for (std::size_t i = 50; i < pieces.size(); ++i) pieces[i].begin += 900 << 10;
  EXPECT_EQ(GapWorthReading(pieces), 900u << 10);  // one of them is below 1 %
  pieces.back().begin += 2 << 20;
  EXPECT_EQ(GapWorthReading(pieces), 900u << 10);
}

// Every byte must be written to its piece, for all sizes and splits.
TEST(RangePlanTest, EveryByteIsWrittenToItsPiece) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Extents extents;
    std::uint64_t at = 0;
    for (int i = 0; i < 30; ++i) {
      at += random() % 4 == 0 ? random() % 200'000 : random() % 3;
      const std::uint64_t size = 1 + random() % (random() % 3 == 0 ? 40'000 : 300);
      extents.emplace_back(at, size);
      at += size;
    }
    const Bytes content = MakeContent(at, random());
    Bytes memory(at);
    const auto pieces = PiecesIn(memory, extents);
    const auto requests = PlanRequests(pieces, random() % 100'000, 1 + random() % 100'000);
    std::uint64_t last = 0;
    for (const ByteRange range : requests) {
      EXPECT_GE(range.begin, last);
      last = range.end;
      RangeBuffer landing(pieces, range);
      std::uint64_t position = range.begin;
      for (const MutableByteView view : landing.views()) {
        ASSERT_FALSE(view.empty());
        std::memcpy(view.data(), content.data() + position, view.size());
        position += view.size();
      }
      ASSERT_EQ(position, range.end);
      landing.CopyStaged();
    }
    for (const auto& [begin, size] : extents) {
      ASSERT_EQ(std::memcmp(memory.data() + begin, content.data() + begin, size), 0)
          << "round " << round;
    }
  }
}

TEST(RangePlanTest, SmallAdjacentPiecesShareOneView) {
  Bytes memory(1 << 20);
  const auto pieces = PiecesIn(
      memory, {{0, 600}, {600, 100'000}, {100'600, 500}, {101'100, 700}, {101'900, 50'000}});
  EXPECT_EQ(RangeBuffer(pieces, {0, 151'900}).views().size(), 4u);
}

}  // namespace
}  // namespace penstock::transfer
