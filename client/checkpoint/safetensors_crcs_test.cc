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
