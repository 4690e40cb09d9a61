#include "emulator/s3/core/cancellation.h"

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {

Result<void> RefuseIfCancelled(const Exchange& exchange) {
  if (exchange.wire == nullptr || !exchange.wire->IsCancelled()) return Ok();
  return MakeError("ServiceUnavailable", {},
                   "Service is unable to handle request. The emulator stops.");
}

}  // namespace penstock::emulator::s3
