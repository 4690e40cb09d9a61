// A cache of resolved endpoints. The rules give the same result for every request to a bucket.
#ifndef PENSTOCK_CLIENT_S3_CALL_ENDPOINT_CACHE_H_
#define PENSTOCK_CLIENT_S3_CALL_ENDPOINT_CACHE_H_

#include <atomic>
#include <memory>
#include <string>

#include "client/memory/append_only_list.h"
#include "client/s3/config/config.h"
#include "client/s3/endpoint/endpoint.h"
#include "client/s3/model/operations.h"

namespace penstock::s3 {

// Shared by the calls to this endpoint.
using ResolvedEndpointPtr = std::shared_ptr<const ResolvedEndpoint>;

// Stores the first 64 endpoints; others are resolved each time. Lock-free.
//
// Thread safety: may be used from any thread.
class EndpointCache {
 public:
  // Errors as in ResolveEndpoint and CheckSignable; they are not stored.
  Result<ResolvedEndpointPtr> Resolve(const ResolvedConfig& config, const std::string& bucket,
                                      const std::string& region, const OperationInfo& operation);

 private:
  struct Entry {
    std::string bucket;
    std::string region;
    OperationRules rules;
    ResolvedEndpointPtr endpoint;
  };
  AppendOnlyList<Entry> entries_;
  std::atomic<int> count_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_ENDPOINT_CACHE_H_
