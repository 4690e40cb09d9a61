// Where a request for a bucket goes and for which region it is signed: the S3 rule set of spec/protocol.md §4 for
// general purpose buckets and custom endpoints. Pure; environment and profile are config.h's.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.h"
#include "client/s3/endpoint_url.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

struct EndpointInputs {
  std::string bucket;  // empty: no bucket (ListBuckets)
  std::string region;
  std::optional<EndpointUrl> custom;
  AddressingStyle addressing = AddressingStyle::kAuto;
  bool fips = false;
  bool dualstack = false;
  bool global_us_east_1 = false;  // us-east-1 at s3.amazonaws.com
};

struct ResolvedEndpoint {
  http::Endpoint endpoint;
  std::string authority;        // the Host header
  std::string path_prefix;      // "" or "/prefix" of a custom endpoint, as given
  bool bucket_in_path = false;  // path-style: the first segment after the prefix is the bucket
  std::string signing_region;
};

// kAuto follows the rules: virtual-hosted where the bucket can be a DNS label of the host, else path-style. kVirtual
// is kAuto that refuses to fall back. kInvalidArgument with the rule set's message; kUnsupported for directory
// buckets, Outposts aliases and ARNs.
Result<ResolvedEndpoint> ResolveEndpoint(const EndpointInputs& inputs);

// "amazonaws.com" or that of the region's partition; an unknown region counts as partition aws.
std::string_view DnsSuffix(std::string_view region);

// 3 to 63 lower-case letters, digits and hyphens per label, not shaped like an IPv4 address. With dots allowed, each
// label must be valid.
enum class Dots { kRefused, kAllowed };
bool IsVirtualHostable(std::string_view bucket, Dots dots);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_H_
