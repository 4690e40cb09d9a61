// ARNs and aliases as bucket names: access points, Multi-Region Access Points, S3 Object Lambda, S3
// on Outposts.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/s3/endpoint/endpoint.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// "arn:partition:service:region:account:type/name/...". Within the resource, `:` is equivalent to
// `/`.
struct Arn {
  std::string partition;
  std::string service;
  std::string region;   // May be empty.
  std::string account;  // May be empty.
  std::vector<std::string> resource;

  // Returns the nth component, or null if there are fewer.
  const std::string* Component(std::size_t n) const {
    return n < resource.size() ? &resource[n] : nullptr;
  }
};

// Returns nullopt if there are fewer than six parts, or if partition, service or resource is empty.
std::optional<Arn> ParseArn(std::string_view text);

// Errors are kInvalidArgument with the rule set's message.
Result<ResolvedEndpoint> ResolveArn(const EndpointInputs& inputs, const Arn& arn);

// Returns whether the name has the form `…--op-s3` and is long enough for an Outpost id.
bool IsOutpostsAlias(std::string_view bucket);
Result<ResolvedEndpoint> ResolveOutpostsAlias(const EndpointInputs& inputs);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_
