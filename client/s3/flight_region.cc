// Chooses the region and endpoint of an attempt, and learns the bucket's region from responses.
#include <memory>
#include <string>
#include <utility>

#include "client/s3/endpoint/redirect.h"
#include "client/s3/flight.h"

namespace penstock::s3 {

Result<void> Flight::ResolveForAttempt() {
  if (temporary_endpoint_) {
    endpoint_ = temporary_endpoint_;
    return Ok();
  }
  const std::string& bucket = call_.request.bucket;
  learned_region_.clear();
  // A new bucket is created in the configured region, wherever an earlier bucket of that name was.
  if (region_.empty() && info_.operation != Operation::kCreateBucket)
    learned_region_ = state_->regions.Find(bucket);
  auto resolved = state_->endpoints.Resolve(state_->config, bucket, RequestRegion(), info_);
  if (!resolved.ok() && !learned_region_.empty()) {  // Not supported for this operation there.
    state_->regions.Forget(bucket, learned_region_);
    learned_region_.clear();
    resolved = state_->endpoints.Resolve(state_->config, bucket, RequestRegion(), info_);
  }
  PENSTOCK_ASSIGN(endpoint_, std::move(resolved));
  return Ok();
}

const std::string& Flight::RequestRegion() const {
  return !region_.empty()           ? region_
         : !learned_region_.empty() ? learned_region_
                                    : state_->config.client.region;
}

// A redirect's region is stored for the bucket when a server there responds. It is forgotten on
// another redirect or if no server can be reached there.
void Flight::LearnRegion(const Result<void>& result) {
  const std::string& named = !region_.empty() ? region_ : learned_region_;
  if (named.empty() || temporary_endpoint_) return;
  const std::string& bucket = call_.request.bucket;
  const auto refutes = [this](const Error& error) {
    const bool unreachable = !body().connections().any() && error.kind != ErrorKind::kCancelled;
    return unreachable || error.kind == ErrorKind::kWrongRegion ||
           SpeaksOfAnotherRegion(info_, error);
  };
  if (!result.ok() && refutes(result.error())) return state_->regions.Forget(bucket, named);
  // A 5xx may come from a proxy that reached no server.
  if (body().head() && body().head()->status < 500) state_->regions.Learn(bucket, named);
}

bool Flight::FollowRedirect(Error& error) {
  if (redirected_ || !body().head()) return false;
  auto redirect = ReadRedirect(info_, error, *body().head(), *endpoint_, call_.request.bucket);
  if (!redirect) return false;
  if (!redirect->region.empty()) {
    const auto there =
        state_->endpoints.Resolve(state_->config, call_.request.bucket, redirect->region, info_);
    if (!there.ok()) {
      error.message +=
          " (the client has no endpoint for that region: " + there.error().message + ")";
      return false;
    }
  }
  redirected_ = true;
  region_ = redirect->region;
  temporary_endpoint_.reset();
  if (redirect->endpoint)
    temporary_endpoint_ = std::make_shared<const ResolvedEndpoint>(*std::move(redirect->endpoint));
  return true;
}

}  // namespace penstock::s3
