#include "client/transfer/stream_plan.h"

#include <algorithm>

namespace penstock::transfer {

StreamPlan::StreamPlan(const StreamOptions& options)
    : part_bytes_(options.part_size_bytes),
      most_blocks_(static_cast<std::size_t>(options.read_ahead_parts)),
      first_bytes_(std::min(options.first_part_bytes.value_or(part_bytes_), part_bytes_)),
      grows_(options.first_part_bytes.has_value()) {}

std::uint64_t StreamPlan::FirstBlock(std::uint64_t object_bytes) const {
  return object_bytes <= part_bytes_ ? object_bytes : first_bytes_;
}

std::uint64_t StreamPlan::NextBlock(const StreamProgress& read) const {
  if (!grows_) return part_bytes_;
  if (read.blocks == 0) return first_bytes_;
  return std::min(part_bytes_, std::max({first_bytes_, kLeastLaterBlock, read.bytes}));
}

bool StreamPlan::MayFetchAhead(const StreamProgress& read, std::size_t ahead_blocks, std::uint64_t ahead_bytes,
                               std::uint64_t bytes) const {
  if (ahead_blocks >= most_blocks_) return false;
  if (!grows_) return true;
  // A second block that was asked for shows that the reader goes on; before that it may have wanted no more than the first.
  if (read.blocks + ahead_blocks < 2) return false;
  return ahead_bytes + bytes <= 4 * read.bytes;
}

}  // namespace penstock::transfer
