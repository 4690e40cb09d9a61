#include "client/s3/endpoint/redirect.h"

#include "client/http/uri.h"
#include "client/s3/endpoint/partition.h"
#include "client/s3/model/error_codes.h"

namespace penstock::s3 {
namespace {

bool IsBelow(std::string_view host, std::string_view parent) {
  if (host == parent) return true;
  return host.size() > parent.size() && host.ends_with(parent) &&
         host[host.size() - parent.size() - 1] == '.';
}

// Returns the suffix of the requested host that all hosts of the same owner share.
std::string_view OwnerOf(const ResolvedEndpoint& asked, std::string_view bucket) {
  std::string_view host = asked.endpoint.host;
  if (!bucket.empty() && host.starts_with(std::string(bucket) + "."))
    host.remove_prefix(bucket.size() + 1);
  const std::string_view aws = PartitionOf(asked.signing_region).dns_suffix;
  return IsBelow(host, aws) ? aws : host;
}

// Leaves out path and query, which may be long or secret.
std::string NotFollowed(std::string_view location) {
  const auto url = http::ParseUrl(location);
  if (!url.ok()) return "that is not a URL";
  return url->endpoint.scheme + "://" + http::HostHeader(url->endpoint) + " that is not followed";
}

}  // namespace

bool SpeaksOfAnotherRegion(const OperationInfo& info, const Error& error) {
  const int status = error.http_status;
  if (status == 301 || status == 302 || status == 307) return true;
  if (info.has_bare_errors() && status == 400) return true;
  return HasTrait(error.code, CodeTrait::kOtherRegion);
}

std::optional<Redirect> ReadRedirect(const OperationInfo& info, const Error& error,
                                     const http::ResponseHead& head, const ResolvedEndpoint& asked,
                                     std::string_view bucket) {
  if (bucket.empty() || !SpeaksOfAnotherRegion(info, error)) return std::nullopt;
  if (!error.region.empty() && error.region != asked.signing_region) {
    // The request body names the region that it was built for.
    if (info.in_configured_region) return std::nullopt;
    return Redirect{error.region, std::nullopt};
  }
  const auto location = head.Find("location");
  if (!location || error.http_status != 307) return std::nullopt;
  const auto url = http::ParseUrl(*location);
  if (!url.ok() || url->endpoint.scheme != asked.endpoint.scheme ||
      !IsBelow(url->endpoint.host, OwnerOf(asked, bucket))) {
    return std::nullopt;
  }
  ResolvedEndpoint target = asked;
  target.endpoint = url->endpoint;
  target.authority = http::HostHeader(url->endpoint);
  target.bucket_in_path = !url->endpoint.host.starts_with(std::string(bucket) + ".");
  return Redirect{{}, target};
}

void ExplainRedirect(const OperationInfo& info, const http::ResponseHead& head,
                     const ResolvedEndpoint& asked, bool redirected, Error& error) {
  // A HEAD response names no code. After a redirect, its 400 is most likely another redirect.
  const bool bare = info.has_bare_errors() && head.status == 400;
  if (bare && redirected) error.kind = ErrorKind::kWrongRegion;
  if (error.kind != ErrorKind::kWrongRegion) return;
  if (error.region == asked.signing_region) {
    error.message += " (the response names region " + error.region +
                     ", to which the request was sent; the endpoint may belong to another region)";
  } else if (!error.region.empty()) {
    error.message += " (the bucket is in region " + error.region + "; configure that region)";
  } else if (bare) {
    error.message += " (a response to HEAD gives no reason; the bucket may not be in region " +
                     asked.signing_region + ")";
  }
  error.message += " (answered " + std::to_string(head.status) + " by " + asked.authority;
  if (redirected) error.message += bare ? ", after a redirect" : ", after another redirect";
  const auto location = error.region.empty() ? head.Find("location") : std::nullopt;
  if (location) error.message += ", with a Location " + NotFollowed(*location);
  error.message += ")";
}

void ExplainRegionOfNewBucket(const OperationInfo& info, const ResolvedEndpoint& asked,
                              Error& error) {
  if (!info.in_configured_region || error.kind != ErrorKind::kWrongRegion) return;
  if (error.region.empty() || error.region == asked.signing_region) return;
  error.message = "the service is in " + error.region + ", the client is configured for " +
                  asked.signing_region + "; set region=" + error.region;
}

}  // namespace penstock::s3
