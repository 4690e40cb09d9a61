// The request target taken apart: bucket, key, query. Pure; no I/O.
//
// Keys are the raw percent-decoded remainder of the path: no dot-segment or double-slash
// normalisation, and an unencoded '+' in the path is a space (spec/protocol.md §0 "Path routing").
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/protocol/directory_host.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

struct QueryParameter {
  std::string name;   // percent-decoded ('+' stays '+')
  std::string value;  // percent-decoded; empty also where there was no '='
};

struct Target {
  std::string raw_path;   // before '?', exactly as sent
  std::string raw_query;  // after the first '?', exactly as sent
  BucketName bucket;      // empty: the service itself
  ObjectKey key;          // empty: the bucket itself
  bool virtual_hosted = false;
  // The region of "[bucket.]s3.<region>.amazonaws.com" and its older spellings, or of the same
  // names under "localhost" and "localhost.localstack.cloud"; empty: the host names none.
  std::string host_region;
  // of S3 Express One Zone, by the host's name
  DirectoryEndpoint directory_endpoint = DirectoryEndpoint::kNone;
  std::string host_zone;  // of a zonal endpoint
  // "amazonaws.com": S3's own rules hold for which endpoint serves what; elsewhere one serves all
  bool on_s3_domain = false;
  std::vector<QueryParameter> query;  // arrival order, duplicates kept

  bool Has(std::string_view name) const;
  // First value of that name.
  std::optional<std::string_view> Get(std::string_view name) const;
  // From now on a '+' in the query is a space. Values without one stay where they are; so do names.
  void ReadPlusAsSpace();
};

// How host names map to buckets. Path-style is always accepted.
struct HostRules {
  // A Host (port removed) that ends in "." + one of these is virtual-hosted: the part before it is
  // the bucket. Of several the longest counts: "b.s3.localhost" is `b`. Defaults: "localhost", and
  // "s3." and "s3.<region>." before "amazonaws.com", "localhost" and "localhost.localstack.cloud".
  // S3's regional names are understood for every region and need no suffix.
  std::vector<std::string> suffixes;
  static HostRules Default(std::string_view region);
};

// InvalidURI when the percent-encoding is broken, or bucket, key or a query parameter's name or
// value is not UTF-8.
Result<Target> ParseTarget(std::string_view raw_target, std::string_view host,
                           const HostRules& rules);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_TARGET_H_
