// Which blocks to evict (docs/decisions/0108). Pure functions.
//
// Training reads a data set again and again, in order or shuffled. If the data set is larger than
// the cache, LRU, FIFO and S3-FIFO evict a block shortly before it is read again. So this policy
// protects blocks until they are stale: not used while kStaleFactor times the size of the cache was
// read. If too few blocks are stale, it evicts from the newest kWindowShare of the cache, least
// recently used first.
#ifndef PENSTOCK_CLIENT_CACHE_EVICTION_H_
#define PENSTOCK_CLIENT_CACHE_EVICTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::cache {

inline constexpr std::uint64_t kStaleFactor = 3;
inline constexpr double kWindowShare = 0.1;
// An eviction frees this share of the limit beyond what is needed, so that scans are rare.
inline constexpr double kEvictShare = 0.05;

// Times of a block's file, in nanoseconds since the epoch.
struct BlockAge {
  std::int64_t stored = 0;
  std::int64_t used = 0;
  std::uint64_t bytes = 0;
};

// A rule that selects blocks. It has no list of them, so a scan can apply it.
struct EvictionPlan {
  std::int64_t stale_used_until = INT64_MIN;    // Evict blocks last used at this time or before.
  std::int64_t window_stored_from = INT64_MAX;  // Evict blocks stored at this time or later and
  std::int64_t window_used_until = INT64_MIN;   // last used at this time or before.

  bool Evicts(const BlockAge& block) const {
    return block.used <= stale_used_until ||
           (block.stored >= window_stored_from && block.used <= window_used_until);
  }
};

// Selects at least `bytes_to_free` bytes, or all. Blocks last used before `stale_before` are stale.
EvictionPlan PlanEviction(std::span<const BlockAge> blocks, std::uint64_t bytes_to_free,
                          std::int64_t stale_before);
// Selects the least recently used blocks.
EvictionPlan PlanPrune(std::span<const BlockAge> blocks, std::uint64_t bytes_to_free);

// The times at which the bytes read from a cache reached multiples of a step. All processes add to
// it, in the shared state.
struct ReadHistory {
  static constexpr std::size_t kTicks = 64;

  std::array<std::int64_t, kTicks> times{};  // Of tick i at i % kTicks. 0: none.
  std::uint64_t ticks = 0;                   // Steps reached so far.

  // `read_bytes`: bytes read from the cache since its creation.
  void Record(std::uint64_t read_bytes, std::uint64_t limit_bytes, std::int64_t now);
  // Returns the time since when about kStaleFactor * limit bytes were read. INT64_MIN: fewer were
  // read.
  std::int64_t StaleBefore() const;
  // The time of the last tick.
  std::int64_t LastTick() const;
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_EVICTION_H_
