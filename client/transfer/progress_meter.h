// Counts a transfer's bytes and tells its owner's callback now and then.
#ifndef PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_
#define PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Without a callback every member returns at once. The callback runs outside every lock of this
// class, one call at a time.
//
// Thread safety: Add from any thread; SetTotal and Finish while nobody is in SetTotal or Finish.
class ProgressMeter {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};

  explicit ProgressMeter(ProgressCallback told, const Clock& clock = SystemClock());

  void SetTotal(std::uint64_t bytes) { total_.store(bytes, std::memory_order_relaxed); }
  // So many bytes more have moved; negative: they are to be moved again. What is told never falls.
  void Add(std::int64_t bytes);
  // All has moved, `bytes` in number: tells so, if that is news. After the last Add.
  void Finish(std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  void Report(std::uint64_t bytes);

  const ProgressCallback told_;
  const Clock& clock_;
  std::atomic<std::int64_t> moved_{0};
  std::atomic<std::uint64_t> total_{kUnknown};
  std::atomic<MonotonicTime> due_;
  std::atomic<bool> telling_{false};
  std::uint64_t last_told_ = 0;  // the teller's; `telling_` hands it on
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_
