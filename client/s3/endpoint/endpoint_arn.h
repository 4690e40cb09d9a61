// ARNs and aliases in a bucket's place: access points, Multi-Region Access Points, S3 Object
// Lambda, S3 on Outposts (spec/protocol.md §4.2, rows 3 and 6 to 9).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/s3/endpoint/endpoint.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// "arn:partition:service:region:account:type/name/...", `:` counting as `/` in the resource.
struct Arn {
  std::string partition;
  std::string service;
  std::string region;   // may be empty
  std::string account;  // may be empty
  std::vector<std::string> resource;

  // The nth component, or null where there are fewer.
  const std::string* Component(std::size_t n) const {
    return n < resource.size() ? &resource[n] : nullptr;
  }
};

// nullopt: not six parts, or no partition, service or resource.
std::optional<Arn> ParseArn(std::string_view text);

// kInvalidArgument with the rule set's message.
Result<ResolvedEndpoint> ResolveArn(const EndpointInputs& inputs, const Arn& arn);

// `…--op-s3`, long enough to hold an Outpost's id.
bool IsOutpostsAlias(std::string_view bucket);
Result<ResolvedEndpoint> ResolveOutpostsAlias(const EndpointInputs& inputs);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_ARN_H_
