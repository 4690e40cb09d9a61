// Parses the request target into bucket, key and query. Pure.
//
// The key is the percent-decoded rest of the path. Dot segments and double slashes are kept, and an
// unencoded '+' in the path is a space.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/protocol/directory_names.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

struct QueryParameter {
  std::string name;   // Percent-decoded ('+' stays '+').
  std::string value;  // Percent-decoded. Empty if there is no '='.
};

struct Target {
  std::string raw_path;   // Before '?', as sent.
  std::string raw_query;  // After the first '?', as sent.
  BucketName bucket;      // Empty: the request addresses the service.
  ObjectKey key;          // Empty: the request addresses the bucket.
  bool virtual_hosted = false;
  // The region of "[bucket.]s3.<region>.amazonaws.com" and its older forms, or of the same names
  // under "localhost" and "localhost.localstack.cloud". Empty: the host has no region.
  std::string host_region;
  // The S3 Express One Zone endpoint that the host names.
  DirectoryEndpoint directory_endpoint = DirectoryEndpoint::kNone;
  std::string host_zone;  // Of a zonal endpoint.
  // The host is under "amazonaws.com", where each endpoint serves only its own operations, as in
  // S3. On other hosts one endpoint serves all.
  bool on_s3_domain = false;
  std::vector<QueryParameter> query;  // In order of arrival, duplicates included.

  bool Has(std::string_view name) const;
  // Returns the first value of that name.
  std::optional<std::string_view> Get(std::string_view name) const;
  // Decodes '+' in query values as a space from now on. Names and values without '+' keep their
  // addresses.
  void ReadPlusAsSpace();
};

// How host names map to buckets. Path-style requests are always accepted.
struct HostRules {
  // Host name suffixes of virtual-hosted requests. If the host without port ends in "." and a
  // suffix, the part before it is the bucket. The longest suffix wins: "b.s3.localhost" is bucket
  // `b`. Defaults: "localhost", and "s3." and "s3.<region>." before "amazonaws.com", "localhost"
  // and "localhost.localstack.cloud". S3's regional names work for every region without a suffix.
  std::vector<std::string> suffixes;
  static HostRules Default(std::string_view region);
};

// Parses a request target. Returns InvalidURI if the percent-encoding is malformed, or if bucket,
// key or a query parameter is not UTF-8.
Result<Target> ParseTarget(std::string_view raw_target, std::string_view host,
                           const HostRules& rules);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_
