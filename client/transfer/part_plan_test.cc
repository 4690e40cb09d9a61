#include "client/transfer/part_plan.h"

#include <gtest/gtest.h>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kTiB = 1ull << 40;

TEST(ClipRange, EndsWithTheObject) {
  EXPECT_EQ(ClipRange(0, std::nullopt, 10), (ByteRange{0, 10}));
  EXPECT_EQ(ClipRange(3, 7, 10), (ByteRange{3, 7}));
  EXPECT_EQ(ClipRange(3, 70, 10), (ByteRange{3, 10}));
}

TEST(ClipRange, IsEmptyAtAndAfterTheEnd) {
  EXPECT_EQ(ClipRange(10, std::nullopt, 10).size(), 0u);
  EXPECT_EQ(ClipRange(11, 20, 10).size(), 0u);
  EXPECT_EQ(ClipRange(0, std::nullopt, 0).size(), 0u);
}

TEST(PartAt, PartsTileTheRange) {
  const ByteRange whole{5, 28};
  std::uint64_t at = whole.begin;
  int parts = 0;
  while (at < whole.end) {
    const ByteRange part = PartAt(whole, at, 10);
    ASSERT_EQ(part.begin, at);
    ASSERT_GT(part.size(), 0u);
    at = part.end;
    ++parts;
  }
  EXPECT_EQ(at, whole.end);
  EXPECT_EQ(parts, 3);
}

TEST(PartAt, HugePartSizeDoesNotOverflow) {
  EXPECT_EQ(PartAt({100, UINT64_MAX}, 100, UINT64_MAX), (ByteRange{100, UINT64_MAX}));
}

TEST(NextPartSize, FirstThousandPartsHaveTheFirstSize) {
  std::uint64_t written = 0;
  for (int part = 1; part <= 1000; ++part) {
    ASSERT_EQ(NextPartSize(written, 8 * kMiB), 8 * kMiB) << part;
    written += 8 * kMiB;
  }
  EXPECT_EQ(NextPartSize(written + kMiB * 1000, 8 * kMiB), 16 * kMiB);
}

TEST(NextPartSize, TenThousandPartsHoldSeventeenTiB) {
  std::uint64_t written = 0;
  std::uint64_t last = 0;
  for (int part = 1; part <= kMaxParts; ++part) {
    const std::uint64_t size = NextPartSize(written, 8 * kMiB);
    ASSERT_GE(size, last) << part;
    ASSERT_LE(size, kMaxPartBytes) << part;
    last = size;
    written += size;
  }
  EXPECT_GT(written, 17 * kTiB);
}

TEST(NextPartSize, StaysSmallRelativeToTheBytesWritten) {
  // Parts stay proportional: at most 2/1000 of the bytes before them.
  for (std::uint64_t written = 16'000 * kMiB; written < 2 * kTiB; written += 777 * kMiB) {
    ASSERT_LE(NextPartSize(written, 8 * kMiB), written / 1000 * 2);
  }
}

TEST(PartSizeFor, FitsTenThousandParts) {
  for (const std::uint64_t size :
       {80'000 * kMiB, 80'000 * kMiB + 1, 5 * kTiB, kMaxObjectBytes - 1, kMaxObjectBytes}) {
    const auto part = PartSizeFor(size, 8 * kMiB);
    ASSERT_TRUE(part.ok());
    EXPECT_LE((size + *part - 1) / *part, 10'000u) << size;
    EXPECT_LE(*part, kMaxPartBytes) << size;
  }
}

TEST(PartSizeFor, KeepsTheMinimumSizeIfItSuffices) {
  EXPECT_EQ(PartSizeFor(80'000 * kMiB, 8 * kMiB).value(), 8 * kMiB);
  EXPECT_EQ(PartSizeFor(80'000 * kMiB + 1, 8 * kMiB).value(), 9 * kMiB);
}

TEST(PartSizeFor, RejectsObjectsAboveS3sLimit) {
  EXPECT_EQ(PartSizeFor(kMaxObjectBytes + 1, 8 * kMiB).error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::transfer
