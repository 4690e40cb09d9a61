// The test instruments of a namespace: faults, limits and a journal.
//
// A reset restores their initial state, like that of the buckets. Reached through s3::Namespace.
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

// The initial state of a namespace's instruments, also after a reset.
struct InstrumentOptions {
  std::size_t journal_bytes = 16 << 20;  // Size of the journal. 0: no journal.
  std::optional<faults::Scenario> scenario;
  ThrottleSettings throttle;
};

// Thread safety: safe from any thread.
class Instruments {
 public:
  // `clock`: the namespace's clock; must outlive this object. Returns the errors of CheckScenario.
  static Result<std::shared_ptr<Instruments>> Open(const InstrumentOptions& options,
                                                   const Clock& clock);

  faults::FaultRegistry& faults() { return faults_; }
  RateLimiter& limiter() { return limiter_; }
  journal::Journal* journal() { return journal_ ? &*journal_ : nullptr; }  // Null: no journal.
  // The start of the journal's monotonic times.
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
