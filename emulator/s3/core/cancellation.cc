#include "emulator/s3/core/cancellation.h"

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {

Result<void> RefuseIfCancelled(const Exchange& exchange) {
  const auto* const wire = dynamic_cast<const CancellableWire*>(exchange.wire);
  if (wire == nullptr || !wire->IsCancelled()) return Ok();
  return MakeError("ServiceUnavailable", {},
                   "Service is unable to handle request. The emulator stops.");
}

}  // namespace penstock::emulator::s3
