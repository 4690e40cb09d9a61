#include "client/transfer/connection_plan.h"

#include <algorithm>
#include <cmath>

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMinSampleBytes = 4ull << 20;
constexpr std::chrono::milliseconds kMinSampleTime{10};
constexpr double kTargetBytesPerSecond = 1.5e9;  // of all connections together
constexpr double kFirstByteSeconds = 0.02;  // S3 needs at least about this long for the first byte

}  // namespace

int WantedConnections(const RateSample& sample) {
  if (sample.bytes < kMinSampleBytes && sample.elapsed < kMinSampleTime) return 1;
  const double seconds = std::max(std::chrono::duration<double>(sample.elapsed).count(), 1e-9);
  const double rate = std::max(static_cast<double>(sample.bytes), 1.0) / seconds;
  if (static_cast<double>(sample.unclaimed_bytes) / rate < kFirstByteSeconds) return 1;
  const auto parts = static_cast<double>(sample.unclaimed_bytes / kMinPlannedPartBytes);
  return static_cast<int>(std::min(static_cast<double>(ConnectionsForRate(rate)), 1 + parts));
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
