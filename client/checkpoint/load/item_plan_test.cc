#include <gtest/gtest.h>

#include <chrono>

#include "client/checkpoint/load/item_load.h"

namespace penstock::checkpoint {
namespace {

DcpTensor Tensor(const std::vector<Box>& chunks) {
  DcpTensor tensor{"t", "float32", {4, 6}, {}};
  for (const Box& box : chunks) tensor.chunks.push_back({box, {"file", 0, 100, {}}});
  return tensor;
}

TEST(ItemPlanTest, ABoxIsReadFromTheChunksThatItIntersects) {
  const DcpTensor tensor = Tensor({{{0, 0}, {2, 6}}, {{2, 0}, {2, 3}}, {{2, 3}, {2, 3}}});
  std::byte memory[4 * 24];
  const auto reads = PlanBox(tensor, {{1, 2}, {2, 3}}, {memory, {3, 1}});
  ASSERT_TRUE(reads.ok());
  ASSERT_EQ(reads->size(), 3U);
  EXPECT_EQ((*reads)[0].box, (Box{{1, 2}, {1, 3}}));
  EXPECT_EQ((*reads)[0].memory.data, memory);
  EXPECT_EQ((*reads)[1].box, (Box{{0, 2}, {1, 1}}));
  EXPECT_EQ((*reads)[1].memory.data, memory + 3 * 4);
  EXPECT_EQ((*reads)[2].box, (Box{{0, 0}, {1, 2}}));
  EXPECT_EQ((*reads)[2].memory.data, memory + 4 * 4);
  EXPECT_EQ((*reads)[0].position, (Dimensions{0, 0}));
  EXPECT_EQ((*reads)[1].position, (Dimensions{1, 0}));
  EXPECT_EQ((*reads)[2].position, (Dimensions{1, 1}));
}

TEST(ItemPlanTest, MissingAndOverlappingChunksAreDataLoss) {
  const Box all{{0, 0}, {4, 6}};
  std::vector<float> elements(24);
  const StridedMemory memory{reinterpret_cast<std::byte*>(elements.data()), {6, 1}};
  EXPECT_EQ(PlanBox(Tensor({{{0, 0}, {3, 6}}}), all, memory).error().kind, ErrorKind::kDataLoss);
  const auto overlapping = PlanBox(Tensor({{{0, 0}, {3, 6}}, {{2, 0}, {1, 6}}}), all, memory);
  EXPECT_NE(overlapping.error().message.find("overlap"), std::string::npos);
}

// Rows and columns: comparing all pairs would take minutes.
TEST(ItemPlanTest, ManyChunksArePlannedInTime) {
  constexpr std::int64_t kChunks = 50'000;
  for (const std::size_t dimension : {0, 1}) {
    DcpTensor tensor{"t", "float32", {1, 1}, {}};
    tensor.sizes[dimension] = kChunks;
    for (std::int64_t i = 0; i < kChunks; ++i) {
      Box box{{0, 0}, {1, 1}};
      box.offsets[dimension] = i * 7919 % kChunks;
      tensor.chunks.push_back({box, {"file", 0, 100, {}}});
    }
    const Box all{{0, 0}, tensor.sizes};
    const auto begin = std::chrono::steady_clock::now();
    std::vector<float> memory(kChunks);
    const StridedMemory target{reinterpret_cast<std::byte*>(memory.data()),
                               RowMajorStrides(tensor.sizes)};
    EXPECT_EQ(PlanBox(tensor, all, target)->size(), static_cast<std::size_t>(kChunks));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    tensor.chunks.back().box = tensor.chunks.front().box;
    EXPECT_EQ(PlanBox(tensor, all, target).error().kind, ErrorKind::kDataLoss);
  }
}

TEST(ItemPlanTest, ABoxOutsideOfTheTensorIsInvalid) {
  const auto plan = PlanBox(Tensor({{{0, 0}, {4, 6}}}), {{0, 0}, {4, 7}}, {nullptr, {7, 1}});
  EXPECT_EQ(plan.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(plan.error().message.find("whose size is [4, 6]"), std::string::npos);
}

TEST(ItemPlanTest, EmptyBoxesNeedNoReads) {
  EXPECT_TRUE(PlanBox(Tensor({}), {{4, 0}, {0, 6}}, {nullptr, {6, 1}})->empty());
}

}  // namespace
}  // namespace penstock::checkpoint
