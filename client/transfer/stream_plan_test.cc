#include "client/transfer/stream_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

StreamOptions Options(std::optional<std::uint64_t> first = std::nullopt) {
  StreamOptions options;
  options.part_size_bytes = 8 * kMiB;
  options.read_ahead_parts = 4;
  options.first_part_bytes = first;
  return options;
}

// Blocks under way while the reader waits for one, as the stream asks for them.
std::vector<std::uint64_t> Waiting(const StreamPlan& plan, const StreamProgress& read) {
  std::vector<std::uint64_t> blocks;
  std::uint64_t bytes = 0;
  for (;;) {
    const std::uint64_t next = plan.NextBlock(read);
    if (!blocks.empty() && !plan.MayFetchAhead(read, blocks.size(), bytes, next)) return blocks;
    blocks.push_back(next);
    bytes += next;
  }
}

TEST(StreamPlan, WithoutAFirstPartItIsFullFromTheStart) {
  const StreamPlan plan(Options());
  EXPECT_EQ(plan.FirstBlock(100 * kMiB), 8 * kMiB);
  EXPECT_EQ(Waiting(plan, {}), std::vector<std::uint64_t>(4, 8 * kMiB));
}

TEST(StreamPlan, AnObjectOfOnePartIsOneBlock) {
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(8 * kMiB), 8 * kMiB);
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(8 * kMiB + 1), kMiB);
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(UINT64_MAX), kMiB);
}

TEST(StreamPlan, OneWhoReadsOneBlockCostsOneBlock) {
  const StreamPlan plan(Options(64 << 10));
  EXPECT_FALSE(plan.MayFetchAhead({1, 64 << 10}, 0, 0, plan.NextBlock({1, 64 << 10})));
}

TEST(StreamPlan, TheFirstBlockIsSmallAlsoWhereTheSizeIsKnown) {
  EXPECT_EQ(Waiting(StreamPlan(Options(100)), {}), std::vector<std::uint64_t>(1, 100));
}

TEST(StreamPlan, GrowsWithWhatWasRead) {
  const StreamPlan plan(Options(64 << 10));
  EXPECT_EQ(Waiting(plan, {1, 64 << 10}), std::vector<std::uint64_t>(1, kMiB));
  EXPECT_EQ(Waiting(plan, {2, kMiB + (64 << 10)}).size(), 4u);
  EXPECT_EQ(Waiting(plan, {9, 40 * kMiB}), std::vector<std::uint64_t>(4, 8 * kMiB));
}

TEST(StreamPlan, NeverMoreAheadThanFourTimesWhatWasReadNorThanItsParts) {
  const StreamPlan plan(Options(kMiB));
  for (StreamProgress read{1, kMiB}; read.bytes < 200 * kMiB; ++read.blocks, read.bytes += read.bytes) {
    std::uint64_t ahead = 0;
    for (const std::uint64_t block : Waiting(plan, read)) ahead += block;
    EXPECT_LE(ahead, std::max(plan.NextBlock(read), 4 * read.bytes));
    EXPECT_LE(ahead, 32 * kMiB);
  }
}

TEST(StreamPlan, WithoutReadAheadOnlyWhatIsWaitedFor) {
  StreamOptions options = Options();
  options.read_ahead_parts = 0;
  EXPECT_EQ(Waiting(StreamPlan(options), {}).size(), 1u);
}

}  // namespace
}  // namespace penstock::transfer
