// The end of work for a response that will not be read, because the server stops.
#ifndef PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_
#define PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// ServiceUnavailable once the request is cancelled (Wire::IsCancelled). Work that takes more than
// some milliseconds calls this between its steps.
Result<void> RefuseIfCancelled(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CANCELLATION_H_
