#include "client/transfer/connection_plan.h"

#include <algorithm>
#include <cmath>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMinSampleBytes = 4ull << 20;
constexpr std::chrono::milliseconds kMinSampleTime{10};
constexpr double kTargetBytesPerSecond = 1.5e9;  // of all connections together
constexpr double kBusyShare = 0.8;               // of a core
constexpr double kFirstByteSeconds = 0.02;  // S3 needs at least about this long for the first byte

}  // namespace

int WantedConnections(const RateSample& sample) {
  if (sample.bytes < kMinSampleBytes && sample.elapsed < kMinSampleTime) return 1;
  const double seconds = std::max(std::chrono::duration<double>(sample.elapsed).count(), 1e-9);
  const double rate = std::max(static_cast<double>(sample.bytes), 1.0) / seconds;
  if (static_cast<double>(sample.unclaimed_bytes) / rate < kFirstByteSeconds) return 1;
  const auto parts = static_cast<double>(sample.unclaimed_bytes / kMinPlannedPartBytes);
  const int wanted = std::max(ConnectionsForRate(rate),
                              ConnectionsForThreads(sample.thread_cpu, sample.elapsed,
                                                    sample.in_flight, sample.idle_threads));
  return static_cast<int>(std::min(static_cast<double>(wanted), 1 + parts));
}

int ConnectionsForThreads(std::chrono::nanoseconds thread_cpu, std::chrono::nanoseconds elapsed,
                          int in_flight, int idle_threads) {
  const bool is_busy = elapsed.count() > 0 && static_cast<double>(thread_cpu.count()) >=
                                                  kBusyShare * static_cast<double>(elapsed.count());
  return is_busy ? std::min(in_flight + idle_threads, kMaxConnections) : 0;
}

int ConnectionsForRate(double bytes_per_second) {
  return static_cast<int>(std::clamp(std::ceil(kTargetBytesPerSecond / bytes_per_second), 1.0,
                                     static_cast<double>(kMaxConnections)));
}

std::uint64_t PlannedPartSize(std::uint64_t unclaimed_bytes, int connections) {
  // Half of a fair share, so that slower connections take fewer parts.
  const std::uint64_t share =
      unclaimed_bytes / (2 * static_cast<std::uint64_t>(std::max(connections, 1)));
  std::uint64_t size = kMinPlannedPartBytes;
  while (size * 2 <= share && size < kMaxPlannedPartBytes) size *= 2;
  return size;
}

}  // namespace penstock::transfer
