#include "client/transfer/download/stream_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
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

// A reader that got `bytes` in `blocks` blocks and waits for the next `wanted` bytes.
StreamProgress Read(std::size_t blocks, std::uint64_t bytes, std::uint64_t wanted = 0) {
  StreamProgress read;
  read.blocks = blocks;
  read.bytes = bytes;
  read.reached = bytes + wanted;
  return read;
}

// The blocks in flight while the reader waits for one, requested as the stream does.
std::vector<std::uint64_t> Waiting(const StreamPlan& plan, const StreamProgress& read) {
  std::vector<std::uint64_t> blocks;
  std::uint64_t bytes = 0;
  for (;;) {
    const std::uint64_t next = plan.NextBlock(read);
    if (!blocks.empty() && !plan.MayFetchAhead(read, {blocks.size(), bytes}, next)) return blocks;
    blocks.push_back(next);
    bytes += next;
  }
}

std::uint64_t Sum(const std::vector<std::uint64_t>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
}

TEST(StreamPlan, WithoutAFirstPartFetchesAheadFromTheStart) {
  const StreamPlan plan(Options());
  EXPECT_EQ(plan.FirstBlock(100 * kMiB), 8 * kMiB);
  EXPECT_EQ(Waiting(plan, {}), std::vector<std::uint64_t>(4, 8 * kMiB));
}

TEST(StreamPlan, ObjectOfOnePartIsOneBlock) {
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(8 * kMiB), 8 * kMiB);
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(8 * kMiB + 1), kMiB);
  EXPECT_EQ(StreamPlan(Options(kMiB)).FirstBlock(UINT64_MAX), kMiB);
}

TEST(StreamPlan, ReadingOneBlockFetchesOneBlock) {
  const StreamPlan plan(Options(64 << 10));
  const StreamProgress read = Read(1, 64 << 10);
  EXPECT_FALSE(plan.MayFetchAhead(read, {}, plan.NextBlock(read)));
}

TEST(StreamPlan, FirstBlockIsSmallEvenIfTheSizeIsKnown) {
  EXPECT_EQ(Waiting(StreamPlan(Options(100)), {}), std::vector<std::uint64_t>(1, 100));
}

TEST(StreamPlan, GrowsWithTheBytesRead) {
  const StreamPlan plan(Options(64 << 10));
  EXPECT_EQ(Waiting(plan, Read(1, 64 << 10)), std::vector<std::uint64_t>(3, 64 << 10));
  EXPECT_EQ(Waiting(plan, Read(2, kMiB)), std::vector<std::uint64_t>(3, kMiB));
  EXPECT_EQ(Waiting(plan, Read(9, 40 * kMiB)), std::vector<std::uint64_t>(4, 8 * kMiB));
}

TEST(StreamPlan, FetchesAtMostFourTimesTheBytesReached) {
  for (const std::uint64_t first : {std::uint64_t{64} << 10, std::uint64_t{70'000}, kMiB}) {
    const StreamPlan plan(Options(first));
    for (std::uint64_t read = first; read < 200 * kMiB; read += read / 3) {
      for (const std::uint64_t wanted : {std::uint64_t{0}, std::uint64_t{4096}, kMiB}) {
        const std::uint64_t ahead = Sum(Waiting(plan, Read(2, read, wanted)));
        EXPECT_LE(read + ahead, 4 * (read + wanted));
        EXPECT_LE(ahead, 32 * kMiB);
      }
    }
  }
}

TEST(StreamPlan, RequestsAllBytesThatTheReaderWaitsFor) {
  StreamProgress read = Read(0, 0, 4 * kMiB);
  read.share = 4 * kMiB;  // less than one block
  EXPECT_EQ(Waiting(StreamPlan(Options(4 * kMiB)), read),
            std::vector<std::uint64_t>(4, kMiB - (64 << 10)));
}

TEST(StreamPlan, ManyReadersGetFewerAndSmallerBlocks) {
  for (const StreamPlan& plan : {StreamPlan(Options()), StreamPlan(Options(kMiB))}) {
    StreamProgress read = Read(9, 40 * kMiB);
    read.share = 17 * kMiB;
    EXPECT_EQ(Waiting(plan, read), std::vector<std::uint64_t>(4, 4 * kMiB));
    read.share = 8 * kMiB;
    EXPECT_EQ(Waiting(plan, read), std::vector<std::uint64_t>(4, 2 * kMiB));
    read.share = 100'000;
    EXPECT_EQ(Waiting(plan, read), std::vector<std::uint64_t>(1, 64 << 10));
  }
}

TEST(StreamPlan, WithoutReadAheadFetchesOnlyOnDemand) {
  StreamOptions options = Options();
  options.read_ahead_parts = 0;
  EXPECT_EQ(Waiting(StreamPlan(options), {}).size(), 1u);
}

}  // namespace
}  // namespace penstock::transfer
