// The end of work for a response that will not be read, because the server stops.
#ifndef PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_
#define PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// A Wire that knows when its server stops. Thread safety: as Wire.
class CancellableWire : public Wire {
 public:
  // The server stops, and either the connection is closed in both directions (reset) or the grace
  // period is almost over: the response can still be sent.
  virtual bool IsCancelled() const noexcept = 0;
};

// ServiceUnavailable once the request is cancelled. Work that takes more than some milliseconds
// calls this between its steps.
Result<void> RefuseIfCancelled(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_
