#include "client/s3/call/region_resolver.h"

#include <memory>
#include <utility>

#include "client/s3/endpoint/redirect.h"

namespace penstock::s3 {

Result<void> RegionResolver::Resolve() {
  if (temporary_endpoint_) {
    endpoint_ = temporary_endpoint_;
    return Ok();
  }
  learned_region_.clear();
  if (redirect_region_.empty() && !info_.in_configured_region)
    learned_region_ = regions_.Find(bucket_);
  if (!learned_region_.empty()) {
    auto resolved = EndpointIn(learned_region_);
    if (resolved.ok()) {
      endpoint_ = std::move(resolved).value();
      return Ok();
    }
    // Not supported for this operation there.
    regions_.Forget(bucket_, learned_region_);
    learned_region_.clear();
  }
  PENSTOCK_ASSIGN(endpoint_,
                  EndpointIn(redirect_region_.empty() ? config_.client.region : redirect_region_));
  return Ok();
}

// A redirect's region is stored for the bucket when a server there responds. It is forgotten on
// another redirect or if no server can be reached there.
void RegionResolver::Learn(const Result<void>& result, bool connected,
                           const std::optional<http::ResponseHead>& head) {
  const std::string& used = !redirect_region_.empty() ? redirect_region_ : learned_region_;
  if (used.empty() || temporary_endpoint_) return;
  if (!result.ok()) {
    const Error& error = result.error();
    const bool unreachable = !connected && error.kind != ErrorKind::kCancelled;
    if (unreachable || error.kind == ErrorKind::kWrongRegion || SpeaksOfAnotherRegion(info_, error))
      return regions_.Forget(bucket_, used);
  }
  // A 5xx may come from a proxy that reached no server.
  if (head && head->status < 500) regions_.Learn(bucket_, used);
}

bool RegionResolver::Follow(const http::ResponseHead& head, Error& error) {
  if (redirected_) return false;
  auto redirect = ReadRedirect(info_, error, head, *endpoint_, bucket_);
  if (!redirect) return false;
  if (!redirect->region.empty()) {
    const auto there = EndpointIn(redirect->region);
    if (!there.ok()) {
      error.message +=
          " (the client has no endpoint for that region: " + there.error().message + ")";
      return false;
    }
  }
  redirected_ = true;
  redirect_region_ = redirect->region;
  temporary_endpoint_.reset();
  if (redirect->endpoint)
    temporary_endpoint_ = std::make_shared<const ResolvedEndpoint>(*std::move(redirect->endpoint));
  return true;
}

void RegionResolver::Explain(const std::optional<http::ResponseHead>& head, Error& error) const {
  if (head) ExplainRedirect(info_, *head, *endpoint_, redirected_, error);
  ExplainRegionOfNewBucket(info_, *endpoint_, error);
}

}  // namespace penstock::s3
