#include "client/transfer/ranges/range_overlap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using Extents = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // begin, size

struct Asked {
  explicit Asked(const Extents& extents) {
    for (const auto& [begin, size] : extents) memory.emplace_back(size);
    for (std::size_t i = 0; i < extents.size(); ++i)
      pieces.push_back({extents[i].first, MutableByteView(memory[i])});
  }
  std::vector<Bytes> memory;
  std::vector<RangePiece> pieces;
};

Extents ExtentsOf(const std::vector<RangePiece>& pieces) {
  Extents extents;
  for (const RangePiece& piece : pieces) extents.emplace_back(piece.begin, piece.memory.size());
  return extents;
}

std::byte ContentAt(std::uint64_t position) {
  return static_cast<std::byte>(position * 37 + position / 256);
}

void Deliver(const DisjointPieces& disjoint) {
  for (const RangePiece& piece : disjoint.pieces) {
    for (std::size_t i = 0; i < piece.memory.size(); ++i)
      piece.memory[i] = ContentAt(piece.begin + i);
  }
  for (const PieceCopy& copy : disjoint.copies)
    std::memcpy(copy.to.data(), copy.from.data(), copy.to.size());
}

TEST(RangeOverlapTest, KeepsPiecesWithoutOverlap) {
  Asked asked({{0, 10}, {10, 5}, {40, 1}});
  const DisjointPieces disjoint = WithoutOverlap(asked.pieces);
  EXPECT_EQ(ExtentsOf(disjoint.pieces), (Extents{{0, 10}, {10, 5}, {40, 1}}));
  EXPECT_TRUE(disjoint.copies.empty());
  EXPECT_EQ(disjoint.pieces[1].memory.data(), asked.memory[1].data());
}

TEST(RangeOverlapTest, FetchesDuplicatePiecesOnce) {
  Asked asked({{5, 10}, {5, 10}});
  const DisjointPieces disjoint = WithoutOverlap(asked.pieces);
  EXPECT_EQ(ExtentsOf(disjoint.pieces), (Extents{{5, 10}}));
  ASSERT_EQ(disjoint.copies.size(), 1U);
  EXPECT_EQ(disjoint.copies[0].to.size(), 10U);
}

TEST(RangeOverlapTest, FetchesOnlyTheRestOfAnOverlap) {
  Asked asked({{8, 10}, {0, 10}});
  const DisjointPieces disjoint = WithoutOverlap(asked.pieces);
  EXPECT_EQ(ExtentsOf(disjoint.pieces), (Extents{{0, 10}, {10, 8}}));
  ASSERT_EQ(disjoint.copies.size(), 1U);
  EXPECT_EQ(disjoint.copies[0].from.data(), asked.memory[1].data() + 8);
}

TEST(RangeOverlapTest, DropsEmptyPieces) {
  Asked asked({{3, 0}, {0, 4}});
  EXPECT_EQ(ExtentsOf(WithoutOverlap(asked.pieces).pieces), (Extents{{0, 4}}));
}

TEST(RangeOverlapTest, EveryPieceGetsItsBytesAndNoneIsFetchedTwice) {
  std::mt19937 generator(7);
  for (int round = 0; round < 500; ++round) {
    Extents extents;
    std::vector<bool> wanted(400, false);
    for (unsigned i = generator() % 12; i > 0; --i) {
      const std::uint64_t begin = generator() % 300;
      const std::uint64_t size = generator() % 100;
      extents.emplace_back(begin, size);
      for (std::uint64_t at = begin; at < begin + size; ++at) wanted[at] = true;
    }
    Asked asked(extents);
    const DisjointPieces disjoint = WithoutOverlap(asked.pieces);
    std::uint64_t end = 0;
    std::uint64_t brought = 0;
    for (const RangePiece& piece : disjoint.pieces) {
      ASSERT_GE(piece.begin, end) << "round " << round;
      ASSERT_FALSE(piece.memory.empty()) << "round " << round;
      end = piece.begin + piece.memory.size();
      brought += piece.memory.size();
    }
    ASSERT_EQ(brought, static_cast<std::uint64_t>(std::count(wanted.begin(), wanted.end(), true)))
        << "round " << round;
    Deliver(disjoint);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      for (std::size_t at = 0; at < extents[i].second; ++at) {
        ASSERT_EQ(asked.memory[i][at], ContentAt(extents[i].first + at))
            << "round " << round << ", piece " << i;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::transfer
