#include "client/http/byte_rate.h"

#include <algorithm>
#include <chrono>

#include "penstock/base/check.h"

namespace penstock::http {
namespace {

constexpr std::uint64_t kSlicesPerSecond = 50;
constexpr std::uint64_t kSmallestSlice = 4 << 10;
constexpr std::uint64_t kLargestSlice = 256 << 10;
// After an idle period, at most the bytes of this much time may be transferred at once.
constexpr std::chrono::nanoseconds kBurst = std::chrono::milliseconds(20);

std::int64_t Nanoseconds(MonotonicTime time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

ByteRate::ByteRate(std::uint64_t bytes_per_second)
    : nanoseconds_per_byte_(1e9 / static_cast<double>(bytes_per_second)),
      slice_(static_cast<std::size_t>(
          std::clamp(bytes_per_second / kSlicesPerSecond, kSmallestSlice, kLargestSlice))) {
  PENSTOCK_CHECK(bytes_per_second > 0);
}

MonotonicTime ByteRate::ReadyAt(Direction direction) const {
  const std::int64_t due =
      due_[static_cast<std::size_t>(direction)].load(std::memory_order_relaxed);
  return MonotonicTime(
      std::chrono::duration_cast<MonotonicTime::duration>(std::chrono::nanoseconds(due)));
}

void ByteRate::Add(Direction direction, std::size_t count, MonotonicTime now) {
  const auto cost = static_cast<std::int64_t>(static_cast<double>(count) * nanoseconds_per_byte_);
  std::atomic<std::int64_t>& due = due_[static_cast<std::size_t>(direction)];
  const std::int64_t earliest = Nanoseconds(now) - kBurst.count();
  std::int64_t before = due.load(std::memory_order_relaxed);
  while (!due.compare_exchange_weak(before, std::max(before, earliest) + cost,
                                    std::memory_order_relaxed)) {
  }
}

}  // namespace penstock::http
