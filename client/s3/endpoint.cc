#include "client/s3/endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/http/uri.h"

namespace penstock::s3 {
namespace {

bool IsLabelChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

bool IsDnsLabel(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), IsLabelChar);
}

Error Invalid(std::string message) { return Error::Make(ErrorKind::kInvalidArgument, std::move(message)); }
Error Unsupported(std::string message) { return Error::Make(ErrorKind::kUnsupported, std::move(message)); }

Result<void> CheckBucketKind(const EndpointInputs& in) {
  if (in.bucket.starts_with("arn:")) {
    if (std::count(in.bucket.begin(), in.bucket.end(), ':') < 5) {
      return Invalid("Invalid ARN: `" + in.bucket + "` was not a valid ARN");
    }
    if (in.addressing == AddressingStyle::kPath) {
      return Invalid("Path-style addressing cannot be used with ARN buckets");
    }
    return Unsupported("bucket `" + in.bucket +
                       "` is an ARN; access points are not supported, use the name of the bucket behind it");
  }
  if (in.bucket.ends_with("--x-s3") || in.bucket.ends_with("--xa-s3")) {
    return Unsupported("bucket `" + in.bucket +
                       "` is a directory bucket (S3 Express One Zone), which this version does not support; use a "
                       "general purpose bucket");
  }
  if (in.bucket.ends_with("--op-s3")) {
    return Unsupported("bucket `" + in.bucket + "` is an Outposts access point alias, which is not supported");
  }
  if (in.bucket.find('/') != std::string::npos) {  // as a path it would be another bucket's
    return Invalid("`" + in.bucket + "` is not a bucket name: what follows the first `/` belongs to the key");
  }
  return Ok();
}

Result<void> CheckInputs(const EndpointInputs& in) {
  if (in.region.empty()) {
    return Invalid("A region must be set when sending requests to S3. Set it in the configuration, in AWS_REGION or "
                   "in the profile.");
  }
  if (in.dualstack && in.custom) return Invalid("Cannot set dual-stack in combination with a custom endpoint.");
  if (in.fips && in.custom) return Invalid("A custom endpoint cannot be combined with FIPS");
  if (in.fips && in.region.starts_with("cn-")) return Invalid("Partition does not support FIPS");
  PENSTOCK_TRY(CheckBucketKind(in));
  if (!IsDnsLabel(in.region)) {
    return Invalid("Invalid region: region was not a valid DNS name. It is `" + in.region +
                   "`; use letters, digits and hyphens between them, at most 63, as in us-east-1: in the configuration, in "
                   "AWS_REGION or in the profile.");
  }
  return Ok();
}

// The host without the bucket, table 4.3.
std::string AwsHost(const EndpointInputs& in) {
  const std::string suffix(DnsSuffix(in.region));
  const bool global = in.region == "aws-global" || (in.region == "us-east-1" && in.global_us_east_1);
  if (global && !in.fips && !in.dualstack) return "s3." + suffix;
  const std::string region = in.region == "aws-global" ? "us-east-1" : in.region;
  return std::string(in.fips ? "s3-fips." : "s3.") + (in.dualstack ? "dualstack." : "") + region + "." + suffix;
}

bool UseVirtualHost(const EndpointInputs& in) {
  if (in.bucket.empty() || in.addressing == AddressingStyle::kPath) return false;
  if (in.custom && in.custom->is_ip) return false;
  const bool plain_http = in.custom && in.custom->scheme == "http";
  return IsVirtualHostable(in.bucket, plain_http ? Dots::kAllowed : Dots::kRefused);
}

Error CannotBeVirtual(const EndpointInputs& in) {
  const std::string why = in.custom && in.custom->is_ip
                              ? "the endpoint's host `" + in.custom->host + "` is an address"
                              : "bucket `" + in.bucket + "` cannot be one DNS label of the host";
  return Invalid("virtual-hosted addressing was asked for, but " + why + "; use automatic or path-style addressing");
}

}  // namespace

std::string_view DnsSuffix(std::string_view region) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kByPrefix = {{
      {"cn-", "amazonaws.com.cn"},
      {"aws-cn-", "amazonaws.com.cn"},
      {"eusc-", "amazonaws.eu"},
      {"us-iso-", "c2s.ic.gov"},
      {"us-isob-", "sc2s.sgov.gov"},
      {"eu-isoe-", "cloud.adc-e.uk"},
      {"us-isof-", "csp.hci.ic.gov"},
  }};
  for (const auto& [prefix, suffix] : kByPrefix) {
    if (region.starts_with(prefix)) return suffix;
  }
  return "amazonaws.com";
}

bool IsVirtualHostable(std::string_view bucket, Dots dots) {
  if (bucket.size() < 3 || bucket.size() > 63 || IsIpv4Literal(bucket)) return false;
  if (std::any_of(bucket.begin(), bucket.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) return false;
  if (dots == Dots::kRefused) return IsDnsLabel(bucket);
  for (std::string_view rest = bucket;;) {
    const std::size_t dot = rest.find('.');
    if (!IsDnsLabel(rest.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    rest.remove_prefix(dot + 1);
  }
}

Result<ResolvedEndpoint> ResolveEndpoint(const EndpointInputs& in) {
  PENSTOCK_TRY(CheckInputs(in));
  ResolvedEndpoint out;
  out.signing_region = in.region == "aws-global" ? "us-east-1" : in.region;
  if (in.custom) {
    out.endpoint = {in.custom->scheme, in.custom->host, in.custom->port};
    out.path_prefix = in.custom->path;
  } else {
    out.endpoint = {"https", AwsHost(in), 443};
  }
  if (UseVirtualHost(in)) {
    out.endpoint.host = in.bucket + "." + out.endpoint.host;
  } else if (!in.bucket.empty()) {
    if (in.addressing == AddressingStyle::kVirtual) return CannotBeVirtual(in);
    out.bucket_in_path = true;
  }
  out.authority = http::HostHeader(out.endpoint);
  return out;
}

}  // namespace penstock::s3
