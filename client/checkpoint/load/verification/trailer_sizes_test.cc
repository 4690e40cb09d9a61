#include "client/checkpoint/load/verification/trailer_sizes.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

TEST(TrailerSizesTest, PayloadsOfOneKindHaveOneTrailer) {
  EXPECT_EQ(KindOfTrailer(4), KindOfTrailer(64 * 1000 + 4));
  EXPECT_NE(KindOfTrailer(4), KindOfTrailer(8));
  EXPECT_NE(KindOfTrailer(0), KindOfTrailer(4));
  const std::uint64_t zip64 = std::uint64_t{1} << 33;
  EXPECT_NE(KindOfTrailer(4), KindOfTrailer(zip64 + 4));
}

TEST(TrailerSizesTest, ALearnedTrailerAppliesWhereTheHeaderIsAligned) {
  LearnedTrailers trailers;
  EXPECT_EQ(trailers.Find(4, 64 + 500), std::nullopt);
  trailers.Learn(4, 500);
  EXPECT_EQ(trailers.Find(4, 64 + 500), 500U);
  EXPECT_EQ(trailers.Find(68, 128 + 500), 500U);
  EXPECT_EQ(trailers.Find(8, 64 + 500), std::nullopt);  // another kind
  EXPECT_EQ(trailers.Find(4, 65 + 500), std::nullopt);  // the payload would not be aligned
  EXPECT_EQ(trailers.Find(4, 500), std::nullopt);       // no header
}

}  // namespace
}  // namespace penstock::checkpoint
