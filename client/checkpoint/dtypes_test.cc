#include "client/checkpoint/dtypes.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::checkpoint {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(DtypesTest, EveryNameFindsItsOwnRow) {
  for (const DtypeInfo& dtype : AllDtypes()) {
    EXPECT_EQ(FindDtype(dtype.name), &dtype);
    if (!dtype.storage.empty()) {
      EXPECT_EQ(FindDtypeOfStorage(dtype.storage), &dtype);
    }
    if (!dtype.safetensors.empty()) {
      EXPECT_EQ(FindDtypeOfSafetensors(dtype.safetensors), &dtype);
    }
  }
  EXPECT_EQ(FindDtype("float33"), nullptr);
  EXPECT_EQ(FindDtypeOfStorage(""), nullptr);
}

TEST(DtypesTest, DenseBytesRefusesNegativeAndHugeSizes) {
  EXPECT_EQ(DenseBytes(Numbers{2, 3}, 4), 24U);
  EXPECT_EQ(DenseBytes(Numbers{}, 8), 8U);
  EXPECT_EQ(DenseBytes(Numbers{0, 1LL << 40}, 8), 0U);
  EXPECT_FALSE(DenseBytes(Numbers{0, -1}, 8).has_value());
  EXPECT_FALSE(DenseBytes(Numbers{1LL << 40, 1LL << 40}, 1).has_value());
  EXPECT_FALSE(DenseBytes(Numbers{INT64_MAX}, 16).has_value());
}

TEST(DtypesTest, StridedBytesEndsBehindTheLastElement) {
  EXPECT_EQ(StridedBytes(Numbers{2, 3}, Numbers{3, 1}, 4), 24U);
  EXPECT_EQ(StridedBytes(Numbers{2, 3}, Numbers{10, 2}, 4), 60U);
  EXPECT_EQ(StridedBytes(Numbers{5}, Numbers{0}, 4), 4U);
  EXPECT_EQ(StridedBytes(Numbers{0, 3}, Numbers{3, 1}, 4), 0U);
  EXPECT_FALSE(StridedBytes(Numbers{2}, Numbers{-1}, 4).has_value());
  EXPECT_FALSE(StridedBytes(Numbers{2}, Numbers{}, 4).has_value());
  EXPECT_FALSE(StridedBytes(Numbers{1LL << 40}, Numbers{1LL << 40}, 4).has_value());
}

}  // namespace
}  // namespace penstock::checkpoint
