// Resolves the endpoint and signing of a request: AWS's endpoint rule set for S3, for general
// purpose buckets. endpoint_express.h and endpoint_arn.h handle the others. endpoint_table.tsv
// holds botocore's results for comparison. Pure functions; config.h reads environment and profile.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/auth/signer.h"
#include "client/http/transport.h"
#include "client/s3/endpoint/endpoint_url.h"
#include "client/s3/model/operations.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

struct EndpointInputs {
  std::string bucket;  // A name or an ARN; empty: no bucket (ListBuckets).
  std::string region;
  std::optional<EndpointUrl> custom;
  AddressingStyle addressing_style = AddressingStyle::kAuto;
  bool fips = false;
  bool dualstack = false;
  bool accelerate = false;
  bool global_us_east_1 = false;  // Use s3.amazonaws.com for us-east-1.
  bool use_arn_region = true;     // An ARN may name a region other than the client's.
  bool multi_region_access_points = true;
  bool express_sessions = true;
  OperationRules operation;
};

// kSigV4Express: SigV4 with session credentials (CreateSession). kSigV4a: for several regions; the
// Signer does not support it.
enum class AuthScheme { kSigV4, kSigV4Express, kSigV4a };

struct ResolvedEndpoint {
  http::Endpoint endpoint;
  std::string authority;    // The Host header.
  std::string path_prefix;  // "" or "/prefix" of a custom endpoint, as given.
  // Path style: the bucket is the first segment after the prefix.
  bool bucket_in_path = false;
  // With bucket_in_path: the bucket precedes the prefix (directory buckets at an IP address).
  bool bucket_before_prefix = false;
  AuthScheme auth = AuthScheme::kSigV4;
  std::string signing_name = "s3";
  std::string signing_region;  // "*" for kSigV4a.

  // Returns everything before the key, percent-encoded: "", "/prefix", "/prefix/bucket".
  std::string BasePath(std::string_view bucket) const;
};

// Resolves the endpoint. kVirtual follows the rules: virtual-hosted if the bucket can be a DNS
// label of the host, else path style. kAuto does so at AWS's hosts; at others a bucket name goes
// into the path, as in botocore. Errors are kInvalidArgument and start with the rule set's message.
//
// Differences from the rule set: the region must always be a host label, no bucket name contains
// `/`, and at an IP address a name with dots goes into the path.
Result<ResolvedEndpoint> ResolveEndpoint(const EndpointInputs& inputs);

// Returns kUnsupported if the client cannot sign requests to `endpoint`: Multi-Region Access
// Points, Outposts and, with `writes`, S3 Object Lambda.
Result<void> CheckSignable(const ResolvedEndpoint& endpoint, std::string_view bucket, bool writes);

auth::SigningScope ScopeOf(const ResolvedEndpoint& endpoint);

// Helpers for the files with the rules.
Error RuleError(std::string message);
ResolvedEndpoint AwsEndpoint(std::string host, std::string signing_region);
// Prepends `labels` to the custom endpoint's host.
ResolvedEndpoint BelowCustom(const EndpointUrl& custom, const std::string& labels,
                             std::string signing_region);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_
