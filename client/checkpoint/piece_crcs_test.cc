#include "client/checkpoint/piece_crcs.h"

#include <gtest/gtest.h>

#include <string>

#include "base/crc/crc.h"

namespace penstock::checkpoint {
namespace {

// The values of the Python package.
TEST(PieceCrcsTest, PiecesAreGroupsOfRows) {
  struct Case {
    std::vector<std::int64_t> sizes;
    std::uint64_t item_bytes;
    std::uint64_t piece_bytes;
  };
  for (const Case& each :
       {Case{{}, 4, 4}, Case{{0, 5}, 4, 0}, Case{{3, 2}, 4, 24}, Case{{1024, 1024}, 4, 131072},
        Case{{1000, 1000}, 2, 250000}, Case{{1, 3000000}, 1, 750000}, Case{{7, 300000}, 8, 600000},
        Case{{100000, 3}, 8, 150000}, Case{{3, 2097153}, 1, 524289}}) {
    EXPECT_EQ(PieceBytes(each.sizes, each.item_bytes), each.piece_bytes);
  }
}

TEST(PieceCrcsTest, ALastSmallerPieceCounts) {
  EXPECT_EQ(PieceCount(0, 0), 0U);
  EXPECT_EQ(PieceCount(9, 3), 3U);
  EXPECT_EQ(PieceCount(10, 3), 4U);
}

TEST(PieceCrcsTest, ThePiecesHaveTheCrcOfTheWhole) {
  const std::string payload = "0123456789";
  const PieceCrcs crcs = ComputePieceCrcs(AsBytes(payload), 4);
  EXPECT_EQ(crcs.whole, Crc32(AsBytes(payload)));
  const std::vector<std::uint32_t> expected = {Crc32(AsBytes("0123")), Crc32(AsBytes("4567")),
                                               Crc32(AsBytes("89"))};
  EXPECT_EQ(crcs.pieces, expected);
  EXPECT_TRUE(ComputePieceCrcs({}, 0).pieces.empty());
}

TEST(PieceCrcsTest, CrcsAreFourBytesEach) {
  const std::vector<std::uint32_t> crcs = {0, 0xfedcba98, 1};
  const std::string bytes = WriteCrc32s(crcs);
  EXPECT_EQ(bytes, std::string("\0\0\0\0\x98\xba\xdc\xfe\1\0\0\0", 12));
  EXPECT_EQ(ReadCrc32s(bytes), crcs);
  EXPECT_EQ(ReadCrc32s(""), std::vector<std::uint32_t>());
  EXPECT_EQ(ReadCrc32s("abcde"), std::nullopt);
}

}  // namespace
}  // namespace penstock::checkpoint
