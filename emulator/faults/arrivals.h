// How often something was seen, by its identity, in bounded memory.
#ifndef PENSTOCK_EMULATOR_FAULTS_ARRIVALS_H_
#define PENSTOCK_EMULATOR_FAULTS_ARRIVALS_H_

#include <array>
#include <cstdint>
#include <unordered_map>

#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Sharded, so that threads rarely meet. Thread safety: safe from any thread.
class Arrivals {
 public:
  // How often `identity`, a number that stands for it, was seen before.
  std::uint64_t Next(std::uint64_t identity);
  void Clear();

 private:
  // A run of more distinct identities than this forgets some and counts them from zero again,
  // instead of growing without end.
  static constexpr std::size_t kShardLimit = 1 << 16;
  struct Shard {
    Mutex mutex;
    std::unordered_map<std::uint64_t, std::uint64_t> seen PENSTOCK_GUARDED_BY(mutex);
  };
  std::array<Shard, 16> shards_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ARRIVALS_H_
