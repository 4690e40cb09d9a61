#include "emulator/instruments/instruments.h"

namespace penstock::emulator::instruments {

Instruments::Instruments(const InstrumentOptions& options, const Clock& clock)
    : opened_(clock.Monotonic()), faults_(clock), limiter_(clock) {
  limiter_.Set(options.throttle);
  if (options.journal_bytes > 0) journal_.emplace(options.journal_bytes);
}

Result<std::shared_ptr<Instruments>> Instruments::Open(const InstrumentOptions& options,
                                                       const Clock& clock) {
  std::shared_ptr<Instruments> instruments(new Instruments(options, clock));
  if (options.scenario)
    PENSTOCK_TRY(instruments->faults().Start(*options.scenario, /*by_default=*/true));
  return instruments;
}

}  // namespace penstock::emulator::instruments
