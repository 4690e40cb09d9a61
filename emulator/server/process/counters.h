// Counters of the emulator: requests, statuses, bytes.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_COUNTERS_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_COUNTERS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "emulator/s3/core/operation_traits.h"
#include "penstock/base/mutex.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Each thread counts in one of several shards, so that serving threads rarely contend for a lock.
//
// Thread safety: any thread.
class Counters {
 public:
  // An empty operation is counted as "Unknown".
  void CountRequest(std::string_view operation, int status);
  void CountRetry() { OwnShard().retries.fetch_add(1, std::memory_order_relaxed); }
  void CountBytes(std::uint64_t bytes_in, std::uint64_t bytes_out);
  void CountDuration(s3::Access access, std::chrono::nanoseconds duration);
  // Returns everything counted before the call, without injected_failures.
  EmulatorStats Snapshot() const;
  void Reset();

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kClasses = 3;  // One per s3::Access.
  struct Durations {
    std::array<std::atomic<std::uint64_t>, RequestDurations::kUpperBounds.size() + 1> counts{};
    std::atomic<std::int64_t> sum_ns{0};
  };
  struct alignas(64) Shard {
    mutable Mutex mutex;
    std::map<std::string, std::uint64_t, std::less<>> requests PENSTOCK_GUARDED_BY(mutex);
    std::map<int, std::uint64_t> statuses PENSTOCK_GUARDED_BY(mutex);
    std::atomic<std::uint64_t> retries{0};
    std::atomic<std::uint64_t> bytes_in{0};
    std::atomic<std::uint64_t> bytes_out{0};
    std::array<Durations, kClasses> durations;
  };
  Shard& OwnShard();

  std::array<Shard, kShards> shards_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_COUNTERS_H_
