#include "client/s3/endpoint/endpoint_express.h"

#include <string>
#include <utility>

#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/endpoint/partition.h"

namespace penstock::s3 {
namespace {

// Returns "s3express-fips-usw2-az1.dualstack.us-west-2.amazonaws.com". `place` is a zone id or
// "control".
std::string ExpressHost(const EndpointInputs& in, std::string_view place) {
  const bool control = place == "control";
  std::string host = "s3express";
  if (control) host += "-control";
  if (in.fips) host += "-fips";
  if (!control) host += "-" + std::string(place);
  if (in.dualstack) host += ".dualstack";
  return host + "." + in.region + "." + std::string(PartitionOf(in.region).dns_suffix);
}

Error NotHostable(const EndpointInputs& in) {
  return RuleError(
      "S3Express bucket name is not a valid virtual hostable name. It is `" + in.bucket +
      "`; use 3 to 63 lower-case letters, digits and hyphens, as in name--usw2-az1--x-s3");
}

Result<ResolvedEndpoint> AtCustom(const EndpointInputs& in) {
  if (in.custom->is_ip) {
    // As a path it would address another bucket.
    if (in.bucket.find('/') != std::string::npos) return NotHostable(in);
    ResolvedEndpoint out = BelowCustom(*in.custom, "", in.region);
    out.bucket_in_path = true;
    out.bucket_before_prefix = true;
    return out;
  }
  if (!IsVirtualHostable(in.bucket, Dots::kRefused)) return NotHostable(in);
  return BelowCustom(*in.custom, in.bucket, in.region);
}

Result<ResolvedEndpoint> InZone(const EndpointInputs& in) {
  if (!IsVirtualHostable(in.bucket, Dots::kRefused)) return NotHostable(in);
  const std::string_view zone = ZoneOfBucket(in.bucket);
  if (zone.empty()) {
    return RuleError("Unrecognized S3Express bucket name format. `" + in.bucket +
                     "` contains no zone id; use base--zone--x-s3, as in name--usw2-az1--x-s3");
  }
  return AwsEndpoint(in.bucket + "." + ExpressHost(in, zone), in.region);
}

}  // namespace

Result<ResolvedEndpoint> ResolveDirectoryBucket(const EndpointInputs& in) {
  if (in.accelerate) return RuleError("S3Express does not support S3 Accelerate.");
  const bool control = in.operation.express_control && in.bucket.ends_with("--x-s3");
  if (!in.custom && control) {
    ResolvedEndpoint out = ResolveExpressControl(in);
    out.bucket_in_path = true;
    return out;
  }
  PENSTOCK_ASSIGN(ResolvedEndpoint out, in.custom ? AtCustom(in) : InZone(in));
  out.signing_name = "s3express";
  out.auth = in.express_sessions && !in.operation.plain_auth ? AuthScheme::kSigV4Express
                                                             : AuthScheme::kSigV4;
  return out;
}

ResolvedEndpoint ResolveExpressControl(const EndpointInputs& in) {
  ResolvedEndpoint out = in.custom ? BelowCustom(*in.custom, "", in.region)
                                   : AwsEndpoint(ExpressHost(in, "control"), in.region);
  out.signing_name = "s3express";
  return out;
}

}  // namespace penstock::s3
