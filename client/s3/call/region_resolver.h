// The region and endpoint of each attempt of one call: as configured, learned for the bucket, or
// named by a redirect.
#ifndef PENSTOCK_CLIENT_S3_CALL_REGION_RESOLVER_H_
#define PENSTOCK_CLIENT_S3_CALL_REGION_RESOLVER_H_

#include <optional>
#include <string>

#include "client/http/transport.h"
#include "client/s3/call/endpoint_cache.h"
#include "client/s3/config/config.h"
#include "client/s3/endpoint/bucket_regions.h"
#include "client/s3/model/operations.h"
#include "penstock/base/error.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// Not thread-safe. The arguments of the constructor must outlive this object.
class RegionResolver {
 public:
  RegionResolver(const ResolvedConfig& config, BucketRegions& regions, EndpointCache& endpoints,
                 const OperationInfo& info, const std::string& bucket)
      : config_(config), regions_(regions), endpoints_(endpoints), info_(info), bucket_(bucket) {}

  // Chooses endpoint() for the next attempt.
  Result<void> Resolve();
  // Null before the first Resolve. Shared with the requests that use it.
  const ResolvedEndpointPtr& endpoint() const { return endpoint_; }

  // Learns the bucket's region from the end of an attempt. `connected`: a connection was made.
  // `head`: of the response, if there was one.
  void Learn(const Result<void>& result, bool connected,
             const std::optional<http::ResponseHead>& head);

  // Returns whether the response redirects the call; Resolve then returns the new endpoint. Follows
  // one redirect per call.
  bool Follow(const http::ResponseHead& head, Error& error);
  // Adds to the error of a redirect that was not followed what to do about it.
  void Explain(const std::optional<http::ResponseHead>& head, Error& error) const;

 private:
  Result<ResolvedEndpointPtr> EndpointIn(const std::string& region) const {
    return endpoints_.Resolve(config_, bucket_, region, info_);
  }

  const ResolvedConfig& config_;
  BucketRegions& regions_;
  EndpointCache& endpoints_;
  const OperationInfo& info_;
  const std::string& bucket_;
  bool redirected_ = false;
  ResolvedEndpointPtr endpoint_;
  ResolvedEndpointPtr temporary_endpoint_;  // Of a redirect; null: none.
  std::string redirect_region_;             // Empty: learned or configured.
  std::string learned_region_;              // Used by this attempt; empty: none.
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_REGION_RESOLVER_H_
