// Which region and endpoint an attempt goes to, and what its answer teaches about where the bucket
// is.
#include <memory>
#include <string>
#include <utility>

#include "client/s3/endpoint/redirect.h"
#include "client/s3/flight.h"

namespace penstock::s3 {

Result<void> Flight::ResolveHere() {
  if (temporary_endpoint_) {
    endpoint_ = temporary_endpoint_;
    return Ok();
  }
  const std::string& bucket = call_.request.bucket;
  learned_region_.clear();
  // A new bucket belongs where the client is configured, wherever one of that name was before.
  if (region_.empty() && info_.operation != Operation::kCreateBucket)
    learned_region_ = state_->regions.Find(bucket);
  auto resolved = state_->endpoints.Resolve(state_->config, bucket, AskedRegion(), info_);
  if (!resolved.ok() && !learned_region_.empty()) {  // not for this operation
    state_->regions.Forget(bucket, learned_region_);
    learned_region_.clear();
    resolved = state_->endpoints.Resolve(state_->config, bucket, AskedRegion(), info_);
  }
  PENSTOCK_ASSIGN(endpoint_, std::move(resolved));
  return Ok();
}

const std::string& Flight::AskedRegion() const {
  return !region_.empty()           ? region_
         : !learned_region_.empty() ? learned_region_
                                    : state_->config.client.region;
}

// A region that a redirect named is the bucket's once somebody has answered there; it is not, or no
// longer, where that is another redirect or nobody is there.
void Flight::LearnRegion(const Result<void>& result) {
  const std::string& named = !region_.empty() ? region_ : learned_region_;
  if (named.empty() || temporary_endpoint_) return;
  const std::string& bucket = call_.request.bucket;
  const auto refutes = [this](const Error& error) {
    const bool nobody = !body().connections().any() && error.kind != ErrorKind::kCancelled;
    return nobody || error.kind == ErrorKind::kWrongRegion || SpeaksOfAnotherRegion(info_, error);
  };
  if (!result.ok() && refutes(result.error())) return state_->regions.Forget(bucket, named);
  // A server's failure may be a proxy's, which found nobody.
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
      error.message += " (that region cannot be asked: " + there.error().message + ")";
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
