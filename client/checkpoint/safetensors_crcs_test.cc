#include "client/checkpoint/safetensors_crcs.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

using namespace std::string_literals;

// The header that the Python package writes for {"a": float32 [3, 2], "b": uint8 [5]}, whose bytes
// count from 0.
const std::string kHeader =
    "\xd8\0\0\0\0\0\0\0"s
    R"({ "__metadata__":{"PENSTOCK_CRC64NVME":"1 56540ca2fd7ed1d1 rtT9i/behxO78Y6p5GUg0Q==",)"
    R"("format":"pt"},"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"U8","shape":[5],"data_offsets":[24,29]}}      )";

std::string Counted(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// The values of the Python package.
TEST(SafetensorsCrcsTest, PiecesAreGroupsOfRows) {
  struct Case {
    std::vector<std::int64_t> sizes;
    std::uint64_t item_bytes;
    std::uint64_t piece_bytes;
  };
  for (const Case& each :
       {Case{{}, 4, 4}, Case{{0, 5}, 4, 0}, Case{{3, 2}, 4, 24}, Case{{1024, 1024}, 4, 131072},
        Case{{1000, 1000}, 2, 250000}, Case{{1, 3000000}, 1, 750000}, Case{{7, 300000}, 8, 600000},
        Case{{100000, 3}, 8, 150000}, Case{{3, 2097153}, 1, 524289}}) {
    EXPECT_EQ(SafetensorsPieceBytes(each.sizes, each.item_bytes), each.piece_bytes);
  }
}

TEST(SafetensorsCrcsTest, TensorsAreComparedWithTheHeader) {
  const auto crcs = ReadSafetensorsCrcs(kHeader);
  ASSERT_TRUE(crcs.ok()) << crcs.error().message;
  ASSERT_TRUE(crcs->has_value());
  const auto header = ReadSafetensorsHeader(std::string_view(kHeader).substr(8), 29);
  ASSERT_TRUE(header.ok()) << header.error().message;
  const auto made = SafetensorsCrcs::Create(*header, **crcs);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_TRUE(made->has_value());
  EXPECT_TRUE((*made)->Compare(*header, 0, AsBytes(Counted(24))).ok());
  EXPECT_TRUE((*made)->Compare(*header, 1, AsBytes(Counted(5))).ok());
  std::string damaged = Counted(24);
  damaged[23] ^= 1;
  const auto differs = (*made)->Compare(*header, 0, AsBytes(damaged));
  ASSERT_FALSE(differs.ok());
  EXPECT_EQ(differs.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(differs.error().message.find("'a', in bytes 0 to 24, has the CRC64NVME"),
            std::string::npos)
      << differs.error().message;
  EXPECT_FALSE(SafetensorsCrcs::Create(*header, {1, 2, 3}).ok());
}

TEST(SafetensorsCrcsTest, EveryFlippedBitBehindTheStartIsFound) {
  for (std::size_t at = 8 + 42; at < kHeader.size(); ++at) {
    std::string damaged = kHeader;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    EXPECT_EQ(ReadSafetensorsCrcs(damaged).ok(), false) << at;
  }
  for (std::size_t size = 0; size < kHeader.size(); ++size) {
    const auto read = ReadSafetensorsCrcs(std::string(kHeader, 0, size));
    EXPECT_TRUE(!read.ok() || !read->has_value()) << size;
  }
}

// A program that copied __metadata__ wrote another start.
TEST(SafetensorsCrcsTest, HeadersOfOtherProgramsHaveNone) {
  std::string other = kHeader;
  other.erase(9, 1);
  EXPECT_FALSE(ReadSafetensorsCrcs(other)->has_value());
}

}  // namespace
}  // namespace penstock::checkpoint
