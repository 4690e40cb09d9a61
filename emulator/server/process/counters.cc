#include "emulator/server/process/counters.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kClassNames[] = {"read", "list", "write"};
static_assert(static_cast<int>(s3::Access::kRead) == 0 &&
              static_cast<int>(s3::Access::kList) == 1 &&
              static_cast<int>(s3::Access::kWrite) == 2);

}  // namespace

Counters::Shard& Counters::OwnShard() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return shards_[number % kShards];
}

void Counters::CountRequest(std::string_view operation, int status) {
  if (operation.empty()) operation = "Unknown";
  Shard& shard = OwnShard();
  const MutexLock lock(shard.mutex);
  const auto found = shard.requests.find(operation);
  if (found != shard.requests.end()) {
    ++found->second;
  } else {
    shard.requests.emplace(operation, 1);  // the map stays small: operation names are a fixed set
  }
  ++shard.statuses[status];
}

void Counters::CountBytes(std::uint64_t bytes_in, std::uint64_t bytes_out) {
  Shard& shard = OwnShard();
  shard.bytes_in.fetch_add(bytes_in, std::memory_order_relaxed);
  shard.bytes_out.fetch_add(bytes_out, std::memory_order_relaxed);
}

void Counters::CountDuration(s3::Access access, std::chrono::nanoseconds duration) {
  std::size_t bucket = 0;  // Most requests end in the first ones.
  while (bucket < RequestDurations::kUpperBounds.size() &&
         duration > RequestDurations::kUpperBounds[bucket])
    ++bucket;
  Durations& durations = OwnShard().durations[static_cast<std::size_t>(access)];
  durations.counts[bucket].fetch_add(1, std::memory_order_relaxed);
  durations.sum_ns.fetch_add(duration.count(), std::memory_order_relaxed);
}

EmulatorStats Counters::Snapshot() const {
  EmulatorStats stats;
  for (const std::string_view name : kClassNames) stats.durations.try_emplace(std::string(name));
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    for (const auto& [operation, count] : shard.requests) stats.requests[operation] += count;
    for (const auto& [status, count] : shard.statuses) stats.statuses[status] += count;
    stats.retries += shard.retries.load(std::memory_order_relaxed);
    stats.bytes_in += shard.bytes_in.load(std::memory_order_relaxed);
    stats.bytes_out += shard.bytes_out.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kClasses; ++i) {
      RequestDurations& sums = stats.durations.at(std::string(kClassNames[i]));
      for (std::size_t bucket = 0; bucket < sums.counts.size(); ++bucket)
        sums.counts[bucket] += shard.durations[i].counts[bucket].load(std::memory_order_relaxed);
      sums.sum +=
          std::chrono::nanoseconds(shard.durations[i].sum_ns.load(std::memory_order_relaxed));
    }
  }
  return stats;
}

void Counters::Reset() {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    shard.requests.clear();
    shard.statuses.clear();
    shard.retries.store(0, std::memory_order_relaxed);
    shard.bytes_in.store(0, std::memory_order_relaxed);
    shard.bytes_out.store(0, std::memory_order_relaxed);
    for (Durations& durations : shard.durations) {
      for (auto& count : durations.counts) count.store(0, std::memory_order_relaxed);
      durations.sum_ns.store(0, std::memory_order_relaxed);
    }
  }
}

}  // namespace penstock::emulator::server
