#include "client/cache/eviction.h"

#include <algorithm>
#include <vector>

namespace penstock::cache {
namespace {

constexpr std::uint64_t kTicksPerLimit = 16;
static_assert(ReadHistory::kTicks > kTicksPerLimit * kStaleFactor);

using Pointers = std::vector<const BlockAge*>;

std::uint64_t TotalOf(std::span<const BlockAge> blocks) {
  std::uint64_t total = 0;
  for (const BlockAge& block : blocks) total += block.bytes;
  return total;
}

// Returns the last use of the block with which the least recently used blocks reach `bytes`.
// Subtracts their bytes from `bytes`.
std::int64_t UsedUntil(Pointers& blocks, std::uint64_t& bytes) {
  std::ranges::sort(blocks, {}, &BlockAge::used);
  std::int64_t until = INT64_MIN;
  for (const BlockAge* block : blocks) {
    if (bytes == 0) break;
    until = block->used;
    bytes -= std::min(bytes, block->bytes);
  }
  return until;
}

// Returns the blocks that were stored last, together kWindowShare of all bytes but at least
// `least_bytes`.
Pointers NewestOf(Pointers blocks, std::uint64_t window_bytes) {
  std::ranges::sort(blocks, std::ranges::greater(), &BlockAge::stored);
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < blocks.size() && bytes < window_bytes) bytes += blocks[count++]->bytes;
  blocks.resize(count);
  return blocks;
}

}  // namespace

EvictionPlan PlanEviction(std::span<const BlockAge> blocks, std::uint64_t bytes_to_free,
                          std::int64_t stale_before) {
  EvictionPlan plan;
  Pointers stale, others;
  for (const BlockAge& block : blocks)
    (block.used < stale_before ? stale : others).push_back(&block);
  plan.stale_used_until = UsedUntil(stale, bytes_to_free);
  if (bytes_to_free == 0 || others.empty()) return plan;
  const auto share =
      static_cast<std::uint64_t>(kWindowShare * static_cast<double>(TotalOf(blocks)));
  Pointers window = NewestOf(std::move(others), std::max(share, bytes_to_free));
  plan.window_stored_from = window.back()->stored;
  plan.window_used_until = UsedUntil(window, bytes_to_free);
  return plan;
}

EvictionPlan PlanPrune(std::span<const BlockAge> blocks, std::uint64_t bytes_to_free) {
  EvictionPlan plan;
  Pointers all;
  for (const BlockAge& block : blocks) all.push_back(&block);
  plan.stale_used_until = UsedUntil(all, bytes_to_free);
  return plan;
}

void ReadHistory::Record(std::uint64_t read_bytes, std::uint64_t limit_bytes, std::int64_t now) {
  const std::uint64_t reached =
      read_bytes / std::max<std::uint64_t>(1, limit_bytes / kTicksPerLimit);
  if (reached < ticks || reached > ticks + kTicks) {  // another limit than before
    times = {};
    ticks = reached;
    times[ticks % kTicks] = now;
  }
  for (; ticks < reached; ++ticks) times[(ticks + 1) % kTicks] = now;
}

std::int64_t ReadHistory::StaleBefore() const {
  const std::uint64_t back = kTicksPerLimit * kStaleFactor;
  if (ticks < back) return INT64_MIN;
  const std::int64_t time = times[(ticks - back) % kTicks];
  return time == 0 ? INT64_MIN : time;
}

std::int64_t ReadHistory::LastTick() const { return times[ticks % kTicks]; }

}  // namespace penstock::cache
