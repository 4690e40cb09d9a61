#include "client/s3/call/endpoint_cache.h"

#include <utility>

namespace penstock::s3 {
namespace {

constexpr int kMaxEntries = 64;

}  // namespace

Result<ResolvedEndpointPtr> EndpointCache::Resolve(const ResolvedConfig& config,
                                                   const std::string& bucket,
                                                   const std::string& region,
                                                   const OperationInfo& operation) {
  const OperationRules& rules = operation.rules;
  const Entry* known = entries_.FindNewest([&](const Entry& candidate) {
    return candidate.bucket == bucket && candidate.region == region && candidate.rules == rules;
  });
  ResolvedEndpointPtr endpoint = known != nullptr ? known->endpoint : nullptr;
  if (endpoint == nullptr) {
    PENSTOCK_ASSIGN(ResolvedEndpoint resolved,
                    ResolveEndpoint(config.EndpointFor(bucket, region, rules)));
    endpoint = std::make_shared<const ResolvedEndpoint>(std::move(resolved));
  }
  PENSTOCK_TRY(CheckSignable(*endpoint, bucket, !operation.reads()));
  if (known == nullptr && count_.load(std::memory_order_relaxed) < kMaxEntries &&
      count_.fetch_add(1, std::memory_order_relaxed) < kMaxEntries) {
    entries_.Push({bucket, region, rules, endpoint});
  }
  return endpoint;
}

}  // namespace penstock::s3
