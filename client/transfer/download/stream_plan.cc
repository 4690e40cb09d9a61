#include "client/transfer/download/stream_plan.h"

#include <algorithm>

#include "client/transfer/block_memory.h"

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kBlocksOfShare = 4;

// Returns a block size that leaves room for other streams: a multiple of BufferPool::kUnit, or less
// than the smallest huge-page block.
std::uint64_t MaxBlockFor(std::uint64_t share) {
  const std::uint64_t bytes = share / kBlocksOfShare;
  if (bytes >= BufferPool::kUnit) return bytes / BufferPool::kUnit * BufferPool::kUnit;
  return std::clamp<std::uint64_t>(bytes, StreamPlan::kMinBlock,
                                   BlockMemory::kMinHugeBytes - StreamPlan::kMinBlock);
}

}  // namespace

StreamPlan::StreamPlan(const StreamOptions& options)
    : part_bytes_(options.part_size_bytes),
      max_blocks_(static_cast<std::size_t>(options.read_ahead_parts)),
      first_bytes_(std::min(options.first_part_bytes.value_or(part_bytes_), part_bytes_)),
      grows_(options.first_part_bytes.has_value()) {}

std::uint64_t StreamPlan::FirstBlock(std::uint64_t object_bytes) const {
  return object_bytes <= part_bytes_ ? object_bytes : first_bytes_;
}

std::uint64_t StreamPlan::NextBlock(const StreamProgress& read) const {
  const std::uint64_t most = std::min(part_bytes_, MaxBlockFor(read.share));
  return grows_ ? std::min(most, std::max(first_bytes_, read.reached)) : most;
}

bool StreamPlan::MayFetchAhead(const StreamProgress& read, const StreamAhead& ahead,
                               std::uint64_t bytes) const {
  if (ahead.blocks >= max_blocks_ || bytes > read.share || ahead.bytes > read.share - bytes)
    return false;
  if (!grows_) return true;
  const std::uint64_t in_all = read.bytes + ahead.bytes + bytes;
  if (in_all <= read.reached) return true;
  // A request for a second block shows that the reader continues. Before that, it may need only the
  // first block.
  if (read.blocks + ahead.blocks < 2) return false;
  return in_all <= 4 * read.reached;
}

}  // namespace penstock::transfer
