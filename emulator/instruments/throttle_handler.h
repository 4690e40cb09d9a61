// The Handler that tells clients to slow down, and lets answers take the time they take at S3.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_HANDLER_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_HANDLER_H_

#include <memory>
#include <optional>
#include <string_view>

#include "emulator/faults/pauses.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/limits.h"

namespace penstock::emulator::instruments {

// What a request counts as against the limits of its bucket.
struct RequestCost {
  traffic::Traffic traffic = traffic::Traffic::kRead;
  std::string_view key;  // the object's, or the prefix that is listed
};

// nullopt: it counts against none: it is about the service, a bucket's configuration, or nothing S3
// has. A view into the exchange.
std::optional<RequestCost> CostOf(const s3::Exchange& exchange);

// Asks the limiter of the exchange's namespace: refuses with 503 SlowDown before the body is read,
// or lets `next` answer and has body and answer flow, and the answer wait, as the limiter's latency
// says. Stands behind auth: what is refused there costs no budget. A body's pace holds its thread,
// with a turn of `pauses`. Both outlive the handler.
std::unique_ptr<s3::Handler> MakeThrottle(s3::Handler& next, faults::Pauses& pauses);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_HANDLER_H_
