// A rate in bytes, of one transfer or of several that share it.
#ifndef PENSTOCK_EMULATOR_FAULTS_PACER_H_
#define PENSTOCK_EMULATOR_FAULTS_PACER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "emulator/s3/core/delivery.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Whoever comes takes the next stretch of time that his bytes need. Nothing is saved up while
// nobody comes.
//
// Thread safety: safe from any thread.
class Pacer {
 public:
  explicit Pacer(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  // When the last of these bytes may leave: so that what has left is never more than the rate
  // allows. `since`: how long they have been waiting; it may be past.
  MonotonicTime Take(std::uint64_t bytes, MonotonicTime since);
  // How many bytes to take at a time: a fiftieth of a second's, 1 MiB at most.
  std::uint64_t piece() const;

 private:
  const std::uint64_t bytes_per_second_;
  Mutex mutex_;
  MonotonicTime free_ PENSTOCK_GUARDED_BY(mutex_){};  // from here on nobody has taken
};

// One body on its way through a pacer, piece after piece.
//
// Thread safety: one thread at a time.
class PacedTransfer {
 public:
  // Shared: with the other transfers at this rate.
  explicit PacedTransfer(std::shared_ptr<Pacer> pacer) : pacer_(std::move(pacer)) {}
  // When the next `bytes` may leave. Pieces that left late, by a timer's doing, are made up for, up
  // to a tenth of a second.
  MonotonicTime Next(std::uint64_t bytes, MonotonicTime now);

 private:
  std::shared_ptr<Pacer> pacer_;
  MonotonicTime ready_{};  // since when the next piece has been waiting; epoch: there was none
};

// The answer's body leaves at the pacer's rate, whatever else its delivery says.
void PaceAnswer(s3::Delivery& delivery, std::shared_ptr<Pacer> pacer);

// Pacers by what shares them. Thread safety: safe from any thread.
class Pacers {
 public:
  static constexpr std::size_t kMost =
      4'096;  // beyond it all are forgotten; transfers under way keep theirs
  std::shared_ptr<Pacer> Find(const std::string& name, std::uint64_t bytes_per_second);

 private:
  Mutex mutex_;
  // Shared: with the transfers under way.
  std::unordered_map<std::string, std::shared_ptr<Pacer>> by_name_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PACER_H_
