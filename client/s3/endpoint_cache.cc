#include "client/s3/endpoint_cache.h"

#include <utility>

namespace penstock::s3 {
namespace {

constexpr int kMaxEntries = 64;

}  // namespace

Result<ResolvedEndpointPtr> EndpointCache::Resolve(const ResolvedConfig& config, const std::string& bucket,
                                                   const std::string& region) {
  const Entry* known = entries_.FindNewest(
      [&](const Entry& candidate) { return candidate.bucket == bucket && candidate.region == region; });
  if (known != nullptr) return known->endpoint;
  PENSTOCK_ASSIGN(ResolvedEndpoint resolved, ResolveEndpoint(config.EndpointFor(bucket, region)));
  auto endpoint = std::make_shared<const ResolvedEndpoint>(std::move(resolved));
  if (count_.load(std::memory_order_relaxed) < kMaxEntries && count_.fetch_add(1, std::memory_order_relaxed) < kMaxEntries) {
    entries_.Push({bucket, region, endpoint});
  }
  return endpoint;
}

}  // namespace penstock::s3
