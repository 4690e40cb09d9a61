#include "client/s3/endpoint/endpoint_arn.h"

#include <utility>

#include "client/http/uri.h"
#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/endpoint/partition.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kMinOutpostsAlias = 50;

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

Result<void> CheckLabel(const std::string& what, const std::string& label) {
  if (IsHostLabel(label)) return Ok();
  return RuleError("Invalid ARN: The " + what +
                   " may only contain a-z, A-Z, 0-9 and `-`. Found: " + Quoted(label));
}

// Checks an ARN whose region or partition differs from the client's.
Result<void> CheckArnRegion(const EndpointInputs& in, const Arn& arn) {
  if (!in.use_arn_region && arn.region != in.region) {
    return RuleError("Invalid configuration: region from ARN " + Quoted(arn.region) +
                     " does not match client region " + Quoted(in.region) +
                     " and UseArnRegion is `false`");
  }
  const std::string_view of_client = PartitionOf(in.region).name;
  const std::string_view of_arn = PartitionOf(arn.region).name;
  if (of_client != of_arn) {
    return RuleError("Client was configured for partition " + Quoted(of_client) + " but ARN (" +
                     Quoted(in.bucket) + ") has " + Quoted(of_arn));
  }
  if (!IsHostLabel(arn.region, Dots::kAllowed))
    return RuleError("Invalid region in ARN: " + Quoted(arn.region) + " (invalid DNS name)");
  return Ok();
}

// Checks that access points and Object Lambda share, up to the region.
Result<void> CheckAccessPoint(const EndpointInputs& in, const Arn& arn) {
  if (in.operation.no_access_points)
    return RuleError("Access points are not supported for this operation");
  if (arn.Component(2) != nullptr) {
    return RuleError(
        "Invalid ARN: The ARN may only contain a single resource component after `accesspoint`.");
  }
  return CheckArnRegion(in, arn);
}

Error NoName() {
  return RuleError(
      "Invalid ARN: Expected a resource of the format `accesspoint:<accesspoint name>` but no name "
      "was provided");
}

bool HasName(const Arn& arn) { return arn.Component(1) != nullptr && !arn.Component(1)->empty(); }

// Prepends name and account to `host`, or to the custom endpoint's host.
ResolvedEndpoint AccessPointEndpoint(const EndpointInputs& in, const Arn& arn,
                                     const std::string& host) {
  const std::string label = *arn.Component(1) + "-" + arn.account;
  if (in.custom) return BelowCustom(*in.custom, label, arn.region);
  return AwsEndpoint(
      label + "." + host + "." + arn.region + "." + std::string(PartitionOf(arn.region).dns_suffix),
      arn.region);
}

Result<ResolvedEndpoint> ObjectLambda(const EndpointInputs& in, const Arn& arn) {
  if (arn.resource[0] != "accesspoint") {
    return RuleError(
        "Invalid ARN: Object Lambda ARNs only support `accesspoint` arn types, but found: " +
        Quoted(arn.resource[0]));
  }
  if (!HasName(arn)) return NoName();
  if (in.dualstack) return RuleError("S3 Object Lambda does not support Dual-stack");
  if (in.accelerate) return RuleError("S3 Object Lambda does not support S3 Accelerate");
  if (arn.region.empty()) return RuleError("Invalid ARN: bucket ARN is missing a region");
  PENSTOCK_TRY(CheckAccessPoint(in, arn));
  if (arn.account.empty()) return RuleError("Invalid ARN: Missing account id");
  PENSTOCK_TRY(CheckLabel("account id", arn.account));
  PENSTOCK_TRY(CheckLabel("access point name", *arn.Component(1)));
  ResolvedEndpoint out =
      AccessPointEndpoint(in, arn, in.fips ? "s3-object-lambda-fips" : "s3-object-lambda");
  out.signing_name = "s3-object-lambda";
  return out;
}

Result<ResolvedEndpoint> AccessPoint(const EndpointInputs& in, const Arn& arn) {
  PENSTOCK_TRY(CheckAccessPoint(in, arn));
  if (arn.service != "s3")
    return RuleError("Invalid ARN: The ARN was not for the S3 service, found: " + arn.service);
  PENSTOCK_TRY(CheckLabel("account id", arn.account));
  PENSTOCK_TRY(CheckLabel("access point name", *arn.Component(1)));
  if (in.accelerate) return RuleError("Access Points do not support S3 Accelerate");
  return AccessPointEndpoint(in, arn,
                             std::string(in.fips ? "s3-accesspoint-fips" : "s3-accesspoint") +
                                 (in.dualstack ? ".dualstack" : ""));
}

Result<ResolvedEndpoint> MultiRegion(const EndpointInputs& in, const Arn& arn) {
  const std::string& alias = *arn.Component(1);
  if (!IsHostLabel(alias, Dots::kAllowed)) return RuleError("Invalid Access Point Name");
  if (in.dualstack) return RuleError("S3 MRAP does not support dual-stack");
  if (in.fips) return RuleError("S3 MRAP does not support FIPS");
  if (in.accelerate) return RuleError("S3 MRAP does not support S3 Accelerate");
  if (!in.multi_region_access_points)
    return RuleError("Invalid configuration: Multi-Region Access Point ARNs are disabled.");
  const Partition& partition = PartitionOf(in.region);
  if (partition.name != arn.partition) {
    return RuleError("Client was configured for partition " + Quoted(partition.name) +
                     " but bucket referred to partition " + Quoted(arn.partition));
  }
  ResolvedEndpoint out =
      AwsEndpoint(alias + ".accesspoint.s3-global." + std::string(partition.dns_suffix), "*");
  out.auth = AuthScheme::kSigV4a;
  return out;
}

// The host `labels` of S3 on Outposts, always over TLS.
ResolvedEndpoint OutpostsEndpoint(const EndpointInputs& in, const std::string& labels,
                                  std::string_view region, bool at_custom) {
  ResolvedEndpoint out = AwsEndpoint(labels + ".s3-outposts." + std::string(region) + "." +
                                         std::string(PartitionOf(region).dns_suffix),
                                     "*");
  if (at_custom) {
    out.endpoint = {"https", labels + "." + in.custom->host, in.custom->port};
    out.authority = http::HostHeader(out.endpoint);
  }
  out.auth = AuthScheme::kSigV4a;
  out.signing_name = "s3-outposts";
  return out;
}

Result<ResolvedEndpoint> Outposts(const EndpointInputs& in, const Arn& arn) {
  if (in.dualstack) return RuleError("S3 Outposts does not support Dual-stack");
  if (in.fips) return RuleError("S3 Outposts does not support FIPS");
  if (in.accelerate) return RuleError("S3 Outposts does not support S3 Accelerate");
  if (arn.Component(4) != nullptr)
    return RuleError("Invalid Arn: Outpost Access Point ARN contains sub resources");
  const std::string* outpost = arn.Component(1);
  if (outpost == nullptr) return RuleError("Invalid ARN: The Outpost Id was not set");
  PENSTOCK_TRY(CheckLabel("outpost Id", *outpost));
  PENSTOCK_TRY(CheckArnRegion(in, arn));
  PENSTOCK_TRY(CheckLabel("account id", arn.account));
  const std::string* type = arn.Component(2);
  if (type == nullptr) return RuleError("Invalid ARN: Expected a 4-component resource");
  const std::string* name = arn.Component(3);
  if (name == nullptr) return RuleError("Invalid ARN: expected an access point name");
  if (*type != "accesspoint")
    return RuleError("Expected an outpost type `accesspoint`, found " + *type);
  PENSTOCK_TRY(CheckLabel("access point name", *name));
  return OutpostsEndpoint(in, *name + "-" + arn.account + "." + *outpost, arn.region,
                          in.custom.has_value());
}

}  // namespace

std::optional<Arn> ParseArn(std::string_view text) {
  if (!text.starts_with("arn:")) return std::nullopt;
  std::vector<std::string> parts;
  while (parts.size() < 5) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    parts.emplace_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  if (parts[1].empty() || parts[2].empty() || text.empty()) return std::nullopt;
  Arn arn{parts[1], parts[2], parts[3], parts[4], {}};
  while (true) {
    const std::size_t end = text.find_first_of(":/");
    arn.resource.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return arn;
    text.remove_prefix(end + 1);
  }
}

Result<ResolvedEndpoint> ResolveArn(const EndpointInputs& in, const Arn& arn) {
  const std::string& type = arn.resource[0];
  if (type.empty()) return RuleError("Invalid ARN: No ARN type specified");
  if (arn.service == "s3-object-lambda") return ObjectLambda(in, arn);
  if (type == "accesspoint") {
    if (!HasName(arn)) return NoName();
    return arn.region.empty() ? MultiRegion(in, arn) : AccessPoint(in, arn);
  }
  if (arn.service == "s3-outposts") return Outposts(in, arn);
  return RuleError("Invalid ARN: Unrecognized format: " + in.bucket + " (type: " + type + ")");
}

bool IsOutpostsAlias(std::string_view bucket) {
  return bucket.size() >= kMinOutpostsAlias && bucket.ends_with("--op-s3");
}

Result<ResolvedEndpoint> ResolveOutpostsAlias(const EndpointInputs& in) {
  const std::string_view tail =
      std::string_view(in.bucket).substr(in.bucket.size() - kMinOutpostsAlias);
  const char hardware = tail[0];
  const std::string outpost(tail.substr(1, 17));
  const bool beta = tail.substr(38, 4) == "beta";
  if (!IsHostLabel(outpost))
    return RuleError("Invalid ARN: The outpost Id must only contain a-z, A-Z, 0-9 and `-`.");
  if (!IsVirtualHostable(in.bucket, Dots::kRefused)) {
    return RuleError("Invalid Outposts Bucket alias - it must be a valid bucket name.");
  }
  if (hardware != 'e' && hardware != 'o') {
    return RuleError(
        std::string("Unrecognized hardware type: \"Expected hardware type o or e but got ") +
        hardware + "\"");
  }
  if (beta && !in.custom)
    return RuleError("Expected a endpoint to be specified but no endpoint was found");
  const std::string labels = in.bucket + (hardware == 'e' ? ".ec2" : ".op-" + outpost);
  if (!beta) return OutpostsEndpoint(in, labels, in.region, false);
  // The beta endpoint replaces "s3-outposts.region.suffix".
  return OutpostsEndpoint(in, labels, in.region, true);
}

}  // namespace penstock::s3
