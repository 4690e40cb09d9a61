// A limit in bytes per second, for one transfer or shared by several.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_PACER_H_
#define PENSTOCK_EMULATOR_TRAFFIC_PACER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "emulator/message/delivery.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::traffic {

// Transfers reserve time in FIFO order. Idle time gives no burst credit.
//
// Thread safety: safe from any thread.
class Pacer {
 public:
  explicit Pacer(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  // Returns when the last of `bytes` may be sent, so that the rate is never exceeded. `since`: the
  // time from which the bytes have been ready; it may be in the past.
  MonotonicTime Take(std::uint64_t bytes, MonotonicTime since);
  // The piece size in bytes: 20 ms of the rate, at most 1 MiB.
  std::uint64_t piece() const;

 private:
  const std::uint64_t bytes_per_second_;
  Mutex mutex_;
  MonotonicTime free_ PENSTOCK_GUARDED_BY(mutex_){};  // End of the reserved time.
};

// Passes one body through a pacer, piece by piece.
//
// Thread safety: one thread at a time.
class PacedTransfer {
 public:
  // `pacer` is shared with the other transfers under the same limit.
  explicit PacedTransfer(std::shared_ptr<Pacer> pacer) : pacer_(std::move(pacer)) {}
  // Returns when the next `bytes` may be sent. A delay of up to 100 ms between pieces, caused by
  // timers, is made up for.
  MonotonicTime Next(std::uint64_t bytes, MonotonicTime now);

 private:
  std::shared_ptr<Pacer> pacer_;
  MonotonicTime ready_{};  // When the next piece became ready. Epoch: no piece yet.
};

// Limits the response body to the pacer's rate, in addition to the other settings of `delivery`.
void PaceResponse(message::Delivery& delivery, std::shared_ptr<Pacer> pacer);

// Pacers by the name of the scope that shares them.
//
// Thread safety: safe from any thread.
class Pacers {
 public:
  // Above this all are dropped; transfers in progress keep theirs.
  static constexpr std::size_t kMax = 4'096;
  std::shared_ptr<Pacer> Find(const std::string& name, std::uint64_t bytes_per_second);

 private:
  Mutex mutex_;
  // Shared with the transfers in progress.
  std::unordered_map<std::string, std::shared_ptr<Pacer>> by_name_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_PACER_H_
