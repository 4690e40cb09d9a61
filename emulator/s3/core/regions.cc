#include "emulator/s3/core/regions.h"

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

Error PermanentRedirect(const store::BucketRecord& bucket, std::string_view region) {
  Error error =
      MakeError("PermanentRedirect",
                {{"Endpoint", bucket.name.value + ".s3." + std::string(region) + ".amazonaws.com"},
                 {"Bucket", bucket.name.value}});
  error.region = region;
  return error;
}

Error WrongSigningRegion(const Exchange& exchange, std::string_view region) {
  const bool in_query = exchange.target.Has("X-Amz-Signature");
  Error error = MakeError(
      in_query ? "AuthorizationQueryParametersError" : "AuthorizationHeaderMalformed",
      {{"Region", std::string(region)}},
      std::string(in_query ? "Error parsing the X-Amz-Credential parameter; the region '"
                           : "The authorization header is malformed; the region '") +
          exchange.signing_region + "' is wrong; expecting '" + std::string(region) + "'");
  error.region = region;
  return error;
}

}  // namespace

std::string ExpectedSigningRegion(const Exchange& exchange, std::string_view scope,
                                  std::string_view home) {
  const Target& target = exchange.target;
  if (!target.host_region.empty()) return target.host_region;
  if (scope == home || target.bucket.empty() || !exchange.space || !exchange.space->store)
    return std::string(home);
  const auto bucket = exchange.space->store->FindBucket(target.bucket);
  return std::string(bucket.ok() ? RegionOfConstraint((*bucket)->region) : home);
}

std::string_view EndpointRegion(const Exchange& exchange, std::string_view home) {
  if (!exchange.target.host_region.empty()) return exchange.target.host_region;
  return exchange.signing_region.empty() ? home : std::string_view(exchange.signing_region);
}

Result<void> CheckRegion(const Exchange& exchange, const store::BucketRecord& bucket,
                         std::string_view home) {
  const std::string_view region = RegionOfConstraint(bucket.region);
  if (region == EndpointRegion(exchange, home)) return Ok();
  // Every endpoint accepts GetBucketLocation, so that clients can look up the region of a bucket.
  if (exchange.operation == "GetBucketLocation" && !exchange.target.virtual_hosted) return Ok();
  const Target& target = exchange.target;
  if (target.virtual_hosted && target.host_region.empty() && !exchange.signing_region.empty()) {
    return WrongSigningRegion(exchange, region);
  }
  return PermanentRedirect(bucket, region);
}

}  // namespace penstock::emulator::s3
