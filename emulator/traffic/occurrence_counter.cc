#include "emulator/traffic/occurrence_counter.h"

namespace penstock::emulator::traffic {

std::uint64_t OccurrenceCounter::Next(std::uint64_t identity) {
  Shard& shard = shards_[identity % shards_.size()];
  const MutexLock lock(shard.mutex);
  if (shard.seen.size() >= kShardLimit) shard.seen.clear();
  return shard.seen[identity]++;
}

void OccurrenceCounter::Clear() {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    shard.seen.clear();
  }
}

}  // namespace penstock::emulator::traffic
