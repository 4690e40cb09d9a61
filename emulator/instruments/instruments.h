// What a namespace has beside its buckets, to test clients with: faults, limits, and a journal.
//
// As new after a reset, like the buckets. Reached through s3::Namespace.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_INSTRUMENTS_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_INSTRUMENTS_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "emulator/faults/fault_registry.h"
#include "emulator/instruments/rate_limiter.h"
#include "emulator/journal/journal.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::instruments {

// What a namespace begins with, and has again after a reset.
struct InstrumentOptions {
  std::size_t journal_bytes = 16 << 20;  // 0: nothing is written down
  std::optional<faults::Scenario> scenario;
  ThrottleSettings throttle;
};

// Thread safety: safe from any thread.
class Instruments {
 public:
  // `clock`: the namespace's; outlives this. CheckScenario's errors.
  static Result<std::shared_ptr<Instruments>> Open(const InstrumentOptions& options,
                                                   const Clock& clock);

  faults::FaultRegistry& faults() { return faults_; }
  RateLimiter& limiter() { return limiter_; }
  journal::Journal* journal() { return journal_ ? &*journal_ : nullptr; }  // null: there is none
  // Where the journal's monotonic times begin.
  MonotonicTime opened() const { return opened_; }

 private:
  Instruments(const InstrumentOptions& options, const Clock& clock);

  const MonotonicTime opened_;
  faults::FaultRegistry faults_;
  RateLimiter limiter_;
  std::optional<journal::Journal> journal_;
};

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_INSTRUMENTS_H_
