// Counts the bytes of a transfer and reports progress to a callback at intervals.
#ifndef PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_
#define PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Without a callback every member returns immediately. The callback runs outside the locks of this
// class, one call at a time.
//
// Thread safety: Add from any thread. SetTotal and Finish must not run concurrently with SetTotal
// or Finish.
class ProgressMeter {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};

  explicit ProgressMeter(ProgressCallback callback, const Clock& clock = SystemClock());

  void SetTotal(std::uint64_t bytes) { total_.store(bytes, std::memory_order_relaxed); }
  // Adds transferred bytes. Negative: these bytes will be transferred again. Reported progress
  // never decreases.
  void Add(std::int64_t bytes);
  // All `bytes` bytes are transferred: reports it, also if an Add has reported as many. Call it
  // after the last Add.
  void Finish(std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  void Report(std::uint64_t bytes);

  const ProgressCallback callback_;
  const Clock& clock_;
  std::atomic<std::int64_t> moved_{0};
  std::atomic<std::uint64_t> total_{kUnknown};
  std::atomic<MonotonicTime> due_;
  std::atomic<bool> reporting_{false};
  std::uint64_t last_reported_ = 0;  // used by the reporting thread; guarded by reporting_
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PROGRESS_METER_H_
