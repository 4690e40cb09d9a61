// A filter that applies the rate limiter: rejects requests with SlowDown and delays responses as
// S3 does.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_FILTER_H_
#define PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_FILTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "emulator/s3/core/filter_chain.h"
#include "emulator/traffic/limits/limits.h"
#include "emulator/traffic/pauses.h"
#include "emulator/traffic/rate_limiter.h"

namespace penstock::emulator::traffic {

// The cost of a request under the limits of its bucket.
struct RequestCost {
  Traffic traffic = Traffic::kRead;
  std::string_view key;  // The object key, or the prefix of a listing.
};

// Returns a view into the exchange. nullopt: the request has no cost: it concerns the service or a
// bucket's configuration, or is not an S3 operation.
std::optional<RequestCost> CostOf(const s3::Exchange& exchange);

// Returns the limiter of the request's namespace. Null: none.
using LimiterOf = std::function<RateLimiter*(const s3::Exchange& exchange)>;

// Applies the limiter of the exchange's namespace. Rejects a request with 503 SlowDown before its
// body is read, or limits latency and speed as configured.
//
// Follows authentication, so rejected requests cost no budget. A paced request body occupies its
// thread and a turn of `pauses`, which must outlive the filter.
std::unique_ptr<s3::Filter> MakeThrottle(LimiterOf limiter_of, Pauses& pauses);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_FILTER_H_
