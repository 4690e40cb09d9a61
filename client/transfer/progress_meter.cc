#include "client/transfer/progress_meter.h"

#include <algorithm>
#include <utility>

namespace penstock::transfer {

ProgressMeter::ProgressMeter(ProgressCallback callback, const Clock& clock)
    : callback_(std::move(callback)), clock_(clock), due_(clock.Monotonic() + kInterval) {}

void ProgressMeter::Add(std::int64_t bytes) {
  if (!callback_) return;
  const std::int64_t moved = moved_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const MonotonicTime now = clock_.Monotonic();
  if (bytes <= 0 || now < due_.load(std::memory_order_relaxed)) return;
  if (reporting_.exchange(true, std::memory_order_acquire)) return;  // another thread is reporting
  due_.store(now + kInterval, std::memory_order_relaxed);
  Report(static_cast<std::uint64_t>(std::max<std::int64_t>(moved, 0)));
  reporting_.store(false, std::memory_order_release);
}

void ProgressMeter::Finish(std::uint64_t bytes) {
  if (!callback_) return;
  SetTotal(bytes);
  Report(bytes);
}

void ProgressMeter::Report(std::uint64_t bytes) {
  TransferProgress progress;
  const std::uint64_t total = total_.load(std::memory_order_relaxed);
  // Bytes that will be transferred again may exceed the total.
  progress.bytes_done =
      std::max(last_reported_, total == kUnknown ? bytes : std::min(bytes, total));
  if (total != kUnknown) progress.bytes_total = total;
  last_reported_ = progress.bytes_done;
  callback_(progress);
}

}  // namespace penstock::transfer
