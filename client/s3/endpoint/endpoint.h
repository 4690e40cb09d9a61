// Where a request for a bucket goes and how it is signed: AWS's rule set for S3 (spec/protocol.md
// §4), as far as it is about general purpose buckets; endpoint_express.h and endpoint_arn.h have
// the others. endpoint_table.tsv holds botocore's answers. Pure; environment and profile are
// config.h's.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/auth/signer.h"
#include "client/http/transport.h"
#include "client/s3/endpoint/endpoint_url.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

// What the rules know of an operation.
struct OperationRules {
  bool express_control = false;  // of a directory bucket itself: regional endpoint, no session
  // never signed with a session, although it goes to the bucket's zone
  bool plain_auth = false;
  bool no_access_points = false;  // not for access points
  bool object_lambda = false;     // goes to S3 Object Lambda itself
  // S3 Accelerate serves objects only; the caller of the rules sees to it
  bool never_accelerated = false;

  friend bool operator==(const OperationRules&, const OperationRules&) = default;
};

struct EndpointInputs {
  std::string bucket;  // a name or an ARN; empty: no bucket (ListBuckets)
  std::string region;
  std::optional<EndpointUrl> custom;
  AddressingStyle addressing = AddressingStyle::kAuto;
  bool fips = false;
  bool dualstack = false;
  bool accelerate = false;
  bool global_us_east_1 = false;  // us-east-1 at s3.amazonaws.com
  bool use_arn_region = true;     // an ARN may name another region than the client's
  bool multi_region_access_points = true;
  bool express_sessions = true;
  OperationRules operation;
};

// kSigV4Express: SigV4 with the credentials of a session (CreateSession). kSigV4a: for several
// regions, which the Signer cannot do.
enum class AuthScheme { kSigV4, kSigV4Express, kSigV4a };

struct ResolvedEndpoint {
  http::Endpoint endpoint;
  std::string authority;    // the Host header
  std::string path_prefix;  // "" or "/prefix" of a custom endpoint, as given
  // path-style: the first segment after the prefix is the bucket
  bool bucket_in_path = false;
  // with bucket_in_path: before the prefix (directory buckets at an address)
  bool bucket_before_prefix = false;
  AuthScheme auth = AuthScheme::kSigV4;
  std::string signing_name = "s3";
  std::string signing_region;  // "*" for kSigV4a

  // Everything before the key, percent-encoded: "", "/prefix", "/prefix/bucket".
  std::string BasePath(std::string_view bucket) const;
};

// kAuto follows the rules: virtual-hosted where the bucket can be a DNS label of the host, else
// path-style. kVirtual is kAuto that refuses to fall back. kInvalidArgument beginning with the rule
// set's message.
//
// Unlike the rule set: the region must be a host label whatever the bucket is, no name holds a `/`,
// and a name with dots goes into the path at an address.
Result<ResolvedEndpoint> ResolveEndpoint(const EndpointInputs& inputs);

// kUnsupported where requests to `endpoint` cannot be signed by us: Multi-Region Access Points and
// Outposts; and, with `writes`, S3 Object Lambda.
Result<void> CheckSignable(const ResolvedEndpoint& endpoint, std::string_view bucket, bool writes);

auth::SigningScope ScopeOf(const ResolvedEndpoint& endpoint);

// For the files that hold the rules.
Error RuleError(std::string message);
ResolvedEndpoint AwsEndpoint(std::string host, std::string signing_region);
// `labels` in front of the custom endpoint's host.
ResolvedEndpoint BelowCustom(const EndpointUrl& custom, const std::string& labels,
                             std::string signing_region);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_H_
