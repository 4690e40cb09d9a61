#include "emulator/api/cancellation.h"

#include "emulator/api/errors.h"

namespace penstock::emulator::api {

Result<void> RefuseIfCancelled(const Exchange& exchange) {
  const auto* const wire = dynamic_cast<const CancellableWire*>(exchange.wire);
  if (wire == nullptr || !wire->IsCancelled()) return Ok();
  return MakeError("ServiceUnavailable", {}, "Service is unable to handle request. The emulator stops.");
}

}  // namespace penstock::emulator::api
