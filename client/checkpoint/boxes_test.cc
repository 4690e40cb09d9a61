#include "client/checkpoint/boxes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace penstock::checkpoint {
namespace {

TEST(BoxesTest, StridesAreRowMajor) {
  EXPECT_EQ(RowMajorStrides(Dimensions{2, 3, 4}), (Dimensions{12, 4, 1}));
  EXPECT_EQ(RowMajorStrides(Dimensions{2, 0, 4}), (Dimensions{4, 4, 1}));
  EXPECT_EQ(RowMajorStrides(Dimensions{}), Dimensions());
}

TEST(BoxesTest, PartsCoverTheBoxInOrder) {
  const Box box{{1, 2, 3}, {2, 5, 7}};
  for (const std::int64_t most : {1, 3, 7, 20, 100}) {
    std::int64_t elements = 0;
    for (const Box& part : box.Parts(most)) {
      EXPECT_LE(part.elements(), most);
      EXPECT_EQ(part.Intersection(box), part);
      elements += part.elements();
    }
    EXPECT_EQ(elements, 70) << most;
  }
  EXPECT_EQ((Box{{0}, {0}}.Parts(1).size()), 1U);
}

TEST(BoxesTest, ShortRowsAreWidenedAndLongOnesAreNot) {
  EXPECT_EQ((Box{{0, 8}, {100, 8}}.Widened(Dimensions{100, 64}, 4)), (Box{{0, 0}, {100, 64}}));
  const Box wide{{0, 0}, {100, 2000}};
  EXPECT_EQ(wide.Widened(Dimensions{100, 4000}, 4), wide);
}

TEST(BoxesTest, ABoxOutsideOfATensorIsNotWithinIt) {
  EXPECT_TRUE((Box{{1, 0}, {1, 3}}.IsWithin(Dimensions{2, 3})));
  EXPECT_FALSE((Box{{1, 1}, {1, 3}}.IsWithin(Dimensions{2, 3})));
  EXPECT_FALSE((Box{{-1, 0}, {1, 3}}.IsWithin(Dimensions{2, 3})));
  EXPECT_FALSE((Box{{1}, {1}}.IsWithin(Dimensions{2, 3})));
  EXPECT_FALSE((Box{{1, 0}, {INT64_MAX, 3}}.IsWithin(Dimensions{2, 3})));
}

TEST(BoxesTest, RunsOfBoxes) {
  const Dimensions sizes{4, 5, 6};
  EXPECT_TRUE((Box{{1, 0, 0}, {2, 5, 6}}.IsRun(sizes)));
  EXPECT_TRUE((Box{{1, 2, 0}, {1, 2, 6}}.IsRun(sizes)));
  EXPECT_FALSE((Box{{0, 1, 0}, {2, 4, 6}}.IsRun(sizes)));
}

// Compares with one copy per element.
TEST(BoxesTest, CopyingEqualsCopyingElementByElement) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t dimensions = random() % 4;
    Dimensions sizes;
    for (std::size_t i = 0; i < dimensions; ++i) sizes.push_back(1 + random() % 5);
    Dimensions order(dimensions);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Dimensions from_strides(dimensions);
    std::int64_t step = 1;
    for (const std::int64_t dimension : order) {
      from_strides[dimension] = step;
      step *= sizes[dimension];
    }
    const Dimensions to_strides = RowMajorStrides(sizes);
    std::vector<std::uint16_t> from(step);
    std::iota(from.begin(), from.end(), 1);
    std::vector<std::uint16_t> to(step);
    CopyElements(sizes, 2, reinterpret_cast<const std::byte*>(from.data()), from_strides,
                 reinterpret_cast<std::byte*>(to.data()), to_strides);
    for (std::int64_t i = 0; i < step; ++i) {
      std::int64_t source = 0;
      for (std::size_t d = 0; d < dimensions; ++d)
        source += i / to_strides[d] % sizes[d] * from_strides[d];
      ASSERT_EQ(to[i], from[source]) << "round " << round;
    }
  }
}

TEST(BoxesTest, EmptyBoxesHaveNoRuns) {
  const Runs runs(Dimensions{3, 0}, Dimensions{1, 1}, Dimensions{1, 1}, 4);
  runs.ForEach([](std::uint64_t, std::uint64_t) { FAIL(); });
  EXPECT_EQ(runs.run_bytes(), 0U);
}

TEST(BoxesTest, SharedElementsAreFound) {
  const std::vector<Box> tiles{{{0, 0}, {2, 3}}, {{0, 3}, {2, 1}}, {{2, 0}, {1, 4}}};
  EXPECT_FALSE(AnyOverlap(tiles));
  EXPECT_FALSE(AnyOverlap({{{}, {}}}));
  EXPECT_TRUE(AnyOverlap({{{}, {}}, {{}, {}}}));
  for (const Box& tile : tiles) {
    EXPECT_TRUE(tile.Overlaps(tile));
    EXPECT_FALSE((tile.Overlaps({tile.offsets, {0, 1}})));
  }
  std::vector<Box> more = tiles;
  more.push_back({{1, 2}, {1, 2}});
  EXPECT_TRUE(AnyOverlap(more));
  // Long boxes in the first dimension, which begin at as many places as in the second.
  std::vector<Box> diagonal;
  for (std::int64_t i = 0; i < 20'000; ++i) diagonal.push_back({{i, 2 * i}, {1 << 30, 1}});
  EXPECT_FALSE(AnyOverlap(diagonal));
}

}  // namespace
}  // namespace penstock::checkpoint
