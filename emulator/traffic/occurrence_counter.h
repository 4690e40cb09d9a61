// Counts occurrences per identity, in bounded memory.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_OCCURRENCE_COUNTER_H_
#define PENSTOCK_EMULATOR_TRAFFIC_OCCURRENCE_COUNTER_H_

#include <array>
#include <cstdint>
#include <unordered_map>

#include "penstock/base/mutex.h"

namespace penstock::emulator::traffic {

// The map is sharded to reduce lock contention.
//
// Thread safety: safe from any thread.
class OccurrenceCounter {
 public:
  // Returns how often `identity`, a hash of the counted item, was passed before.
  std::uint64_t Next(std::uint64_t identity);
  void Clear();

 private:
  // A shard with this many identities is cleared, and its counts restart from zero. This bounds
  // memory.
  static constexpr std::size_t kShardLimit = 1 << 16;
  struct Shard {
    Mutex mutex;
    std::unordered_map<std::uint64_t, std::uint64_t> seen PENSTOCK_GUARDED_BY(mutex);
  };
  std::array<Shard, 16> shards_;
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_OCCURRENCE_COUNTER_H_
