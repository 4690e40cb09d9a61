#include "client/s3/endpoint/endpoint.h"

#include <utility>

#include "client/http/uri.h"
#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/endpoint/endpoint_arn.h"
#include "client/s3/endpoint/endpoint_express.h"
#include "client/s3/endpoint/partition.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

constexpr std::string_view kGlobalRegion = "aws-global";

// Checks the inputs that are independent of the bucket, in the order of AWS's endpoint rule set.
// The check of the region's form is an addition.
Result<void> CheckInputs(const EndpointInputs& in) {
  if (in.region.empty()) {
    return RuleError(
        "A region must be set when sending requests to S3. Set it in the configuration, in "
        "AWS_REGION or "
        "in the profile.");
  }
  if (in.accelerate && in.fips) return RuleError("Accelerate cannot be used with FIPS");
  if (in.dualstack && in.custom)
    return RuleError("Cannot set dual-stack in combination with a custom endpoint.");
  if (in.fips && in.custom) return RuleError("A custom endpoint cannot be combined with FIPS");
  if (in.accelerate && in.custom)
    return RuleError("A custom endpoint cannot be combined with S3 Accelerate");
  if (in.fips && PartitionOf(in.region).name == "aws-cn")
    return RuleError("Partition does not support FIPS");
  if (!IsHostLabel(in.region)) {
    return RuleError("Invalid region: region was not a valid DNS name. It is `" + in.region +
                     "`; use letters, digits and hyphens between them, at most 63, as in "
                     "us-east-1: in the configuration, in "
                     "AWS_REGION or in the profile.");
  }
  return Ok();
}

std::string SigningRegion(const EndpointInputs& in) {
  return in.region == kGlobalRegion ? "us-east-1" : in.region;
}

// Returns the host without the bucket.
std::string AwsHost(const EndpointInputs& in) {
  const std::string suffix(PartitionOf(in.region).dns_suffix);
  const bool global =
      in.region == kGlobalRegion || (in.region == "us-east-1" && in.global_us_east_1);
  if (global && !in.fips && !in.dualstack) return "s3." + suffix;
  return std::string(in.fips ? "s3-fips." : "s3.") + (in.dualstack ? "dualstack." : "") +
         SigningRegion(in) + "." + suffix;
}

std::string AccelerateHost(const EndpointInputs& in) {
  // The rule set adds a region to the global dual-stack host, although no such host is documented.
  const std::string_view dualstack = !in.dualstack                ? ""
                                     : in.region == kGlobalRegion ? "dualstack.us-east-1."
                                                                  : "dualstack.";
  return "s3-accelerate." + std::string(dualstack) + std::string(PartitionOf(in.region).dns_suffix);
}

Result<ResolvedEndpoint> VirtualHosted(const EndpointInputs& in) {
  if (in.custom) return BelowCustom(*in.custom, in.bucket, SigningRegion(in));
  if (in.accelerate && PartitionOf(in.region).name == "aws-cn")
    return RuleError("S3 Accelerate cannot be used in this region");
  return AwsEndpoint(in.bucket + "." + (in.accelerate ? AccelerateHost(in) : AwsHost(in)),
                     SigningRegion(in));
}

ResolvedEndpoint WithoutBucket(const EndpointInputs& in) {
  return in.custom ? BelowCustom(*in.custom, "", SigningRegion(in))
                   : AwsEndpoint(AwsHost(in), SigningRegion(in));
}

Result<ResolvedEndpoint> PathStyle(const EndpointInputs& in) {
  if (in.accelerate) {
    const std::string why = in.addressing_style == AddressingStyle::kPath
                                ? ""
                                : ": `" + in.bucket + "` cannot be one DNS label of the host";
    return RuleError("Path-style addressing cannot be used with S3 Accelerate" + why);
  }
  ResolvedEndpoint out = WithoutBucket(in);
  out.bucket_in_path = true;
  return out;
}

// At such endpoints a bucket name goes into the path, although the rule set calls it
// virtual-hosted. ARNs do not. Few other services have a domain for each bucket.
bool NamesGoIntoThePath(const EndpointInputs& in) {
  if (!in.custom) return false;
  return in.custom->is_ip ||
         (in.addressing_style == AddressingStyle::kAuto && !IsAwsHost(in.custom->host));
}

Result<ResolvedEndpoint> OfBucket(const EndpointInputs& in) {
  const bool path = in.addressing_style == AddressingStyle::kPath;
  const Dots dots = in.custom && in.custom->scheme == "http" ? Dots::kAllowed : Dots::kRefused;
  if (!path && !NamesGoIntoThePath(in) && IsVirtualHostable(in.bucket, dots))
    return VirtualHosted(in);
  if (in.bucket.starts_with("arn:")) {
    const std::optional<Arn> arn = ParseArn(in.bucket);
    if (!arn) return RuleError("Invalid ARN: `" + in.bucket + "` was not a valid ARN");
    if (path) return RuleError("Path-style addressing cannot be used with ARN buckets");
    return ResolveArn(in, *arn);
  }
  if (in.bucket.find('/') != std::string::npos) {  // As a path it would address another bucket.
    return RuleError("`" + in.bucket +
                     "` is not a bucket name: the part after the first `/` belongs to the key");
  }
  return PathStyle(in);
}

Result<ResolvedEndpoint> ObjectLambdaItself(const EndpointInputs& in) {
  if (in.dualstack) return RuleError("S3 Object Lambda does not support Dual-stack");
  if (in.accelerate) return RuleError("S3 Object Lambda does not support S3 Accelerate");
  ResolvedEndpoint out =
      in.custom
          ? BelowCustom(*in.custom, "", in.region)
          : AwsEndpoint(std::string(in.fips ? "s3-object-lambda-fips." : "s3-object-lambda.") +
                            in.region + "." + std::string(PartitionOf(in.region).dns_suffix),
                        in.region);
  out.signing_name = "s3-object-lambda";
  return out;
}

}  // namespace

Error RuleError(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

ResolvedEndpoint AwsEndpoint(std::string host, std::string signing_region) {
  ResolvedEndpoint out;
  out.endpoint = {"https", std::move(host), 443};
  out.authority = http::HostHeader(out.endpoint);
  out.signing_region = std::move(signing_region);
  return out;
}

ResolvedEndpoint BelowCustom(const EndpointUrl& custom, const std::string& labels,
                             std::string signing_region) {
  ResolvedEndpoint out;
  out.endpoint = {custom.scheme, labels.empty() ? custom.host : labels + "." + custom.host,
                  custom.port};
  out.authority = http::HostHeader(out.endpoint);
  out.path_prefix = custom.path;
  out.signing_region = std::move(signing_region);
  return out;
}

std::string ResolvedEndpoint::BasePath(std::string_view bucket) const {
  if (!bucket_in_path) return path_prefix;
  const std::string segment = "/" + http::EncodeQuery(bucket);
  return bucket_before_prefix ? segment + path_prefix : path_prefix + segment;
}

Result<ResolvedEndpoint> ResolveEndpoint(const EndpointInputs& in) {
  PENSTOCK_TRY(CheckInputs(in));
  if (IsDirectoryBucket(in.bucket)) return ResolveDirectoryBucket(in);
  if (in.bucket.empty() && in.operation.express_control) return ResolveExpressControl(in);
  if (IsOutpostsAlias(in.bucket)) return ResolveOutpostsAlias(in);
  if (!in.bucket.empty()) return OfBucket(in);
  if (in.operation.object_lambda) return ObjectLambdaItself(in);
  return WithoutBucket(in);
}

auth::SigningScope ScopeOf(const ResolvedEndpoint& endpoint) {
  const bool session = endpoint.auth == AuthScheme::kSigV4Express;
  return {endpoint.signing_region, endpoint.signing_name,
          session ? auth::TokenKind::kS3Session : auth::TokenKind::kSecurity};
}

Result<void> CheckSignable(const ResolvedEndpoint& endpoint, std::string_view bucket, bool writes) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    return Error::Make(ErrorKind::kUnsupported,
                       "`" + std::string(bucket) + "` is " + what + "; use " + fix);
  };
  if (endpoint.signing_name == "s3-outposts") {
    return refuse("on S3 on Outposts, whose requests this version does not sign",
                  "a bucket in a region");
  }
  if (endpoint.auth == AuthScheme::kSigV4a) {
    return refuse(
        "a Multi-Region Access Point, whose requests need SigV4a signatures, which this version "
        "does not support",
        "the bucket or the access point of one region");
  }
  if (endpoint.signing_name == "s3-object-lambda" && writes) {
    return refuse("an Object Lambda access point, through which this version only reads",
                  "the bucket or access point behind it");
  }
  return Ok();
}

}  // namespace penstock::s3
