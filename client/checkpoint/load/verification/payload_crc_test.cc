#include "client/checkpoint/load/verification/payload_crc.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crc/crc.h"
#include "client/checkpoint/load/checkpoint_test_support.h"

namespace penstock::checkpoint {
namespace {

TEST(PayloadCrcTest, BytesInAnyOrderAndWithOverlapsGiveTheCrcs) {
  std::mt19937 random(1);
  const std::string payload = RandomBytes(300, 2);
  const ByteView bytes = AsBytes(payload);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t step = 1 + random() % 300;
    PayloadCrc crc(bytes.size(), step);
    crc.Expect(0, bytes.size());
    std::vector<bool> known(payload.size());
    while (std::find(known.begin(), known.end(), false) != known.end()) {
      EXPECT_EQ(crc.OfAll(), std::nullopt);
      const std::size_t begin = random() % payload.size();
      const std::size_t size = random() % (payload.size() - begin + 1);
      crc.Add(begin, bytes.subspan(begin, size));
      std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
    }
    EXPECT_EQ(crc.OfAll(), Crc32(bytes));
    for (std::uint64_t begin = 0; begin < bytes.size(); begin += step) {
      const ByteView piece =
          bytes.subspan(begin, std::min<std::uint64_t>(step, bytes.size() - begin));
      EXPECT_EQ(crc.OfPiece(begin / step), Crc32(piece));
    }
  }
}

TEST(PayloadCrcTest, OnlyCompletePiecesHaveACrc) {
  const std::string payload = RandomBytes(10, 2);
  const ByteView bytes = AsBytes(payload);
  PayloadCrc crc(10, 4);
  crc.Expect(3, 6);
  crc.Add(5, bytes.subspan(5, 4));
  EXPECT_EQ(crc.OfPiece(1), std::nullopt);
  crc.Add(3, bytes.subspan(3, 2));
  EXPECT_EQ(crc.OfPiece(0), std::nullopt);
  EXPECT_EQ(crc.OfPiece(1), Crc32(bytes.subspan(4, 4)));
  EXPECT_EQ(crc.OfPiece(2), std::nullopt);
  EXPECT_EQ(crc.OfAll(), std::nullopt);
}

TEST(PayloadCrcTest, BytesOfPiecesThatWereNotAnnouncedAreIgnored) {
  const std::string payload = RandomBytes(10, 2);
  PayloadCrc crc(10, 4);
  crc.Expect(0, 3);
  EXPECT_FALSE(crc.may_complete());
  crc.Expect(4, 4);
  EXPECT_TRUE(crc.may_complete());
  crc.Add(0, AsBytes(payload));
  EXPECT_EQ(crc.OfPiece(0), std::nullopt);
  EXPECT_EQ(crc.OfPiece(1), Crc32(AsBytes(payload).subspan(4, 4)));
}

TEST(PayloadCrcTest, AnEmptyPayloadIsKnown) { EXPECT_EQ(PayloadCrc(0, 0).OfAll(), 0U); }

}  // namespace
}  // namespace penstock::checkpoint
