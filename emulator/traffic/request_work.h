// What a request is for limits and latency: its kind of work, and its identity for random draws.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_REQUEST_WORK_H_
#define PENSTOCK_EMULATOR_TRAFFIC_REQUEST_WORK_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/latency_profile.h"

namespace penstock::emulator::traffic {

// Returns the kind of work in a latency profile that a request is.
Work WorkOf(const s3::Exchange& exchange);

// Returns the object key or, for listings of keys, the requested prefix.
std::string_view KeyAsked(const s3::Exchange& exchange);

// Identity of a request for random draws: operation, bucket, key, part and range. A retry has the
// identity of the original request.
std::string RequestIdentity(const s3::Exchange& exchange);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_REQUEST_WORK_H_
