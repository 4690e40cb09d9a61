// ClientConfig completed from the environment and the profile, and validated. The order of lookup
// is that of the "AWS SDKs and Tools Reference Guide".
#ifndef PENSTOCK_CLIENT_S3_CONFIG_CONFIG_H_
#define PENSTOCK_CLIENT_S3_CONFIG_CONFIG_H_

#include <optional>
#include <string>

#include "client/auth/profile.h"
#include "client/s3/endpoint/endpoint.h"
#include "client/s3/endpoint/endpoint_url.h"
#include "client/s3/retry/retry_rules.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

struct ResolvedConfig {
  // With the effective region, endpoint_url, max_attempts, ca_bundle_path, profile and cache.
  ClientConfig client;
  std::optional<EndpointUrl> endpoint;  // Parsed client.endpoint_url.
  bool fips = false;
  bool dualstack = false;
  bool accelerate = false;
  bool global_us_east_1 = false;
  bool use_arn_region = true;
  bool multi_region_access_points = true;
  bool express_sessions = true;
  bool hedge_reads = true;
  bool upload_checksums = true;
  bool verify_downloads = true;
  int max_attempts = 10;  // Also in client.max_attempts.
  // Of client.retry_mode, which is never kDefault here.
  const RetryRules* retry_rules = &kRetryRules.front();

  // Returns the resolver's inputs for an operation on one bucket, signed for `region`.
  EndpointInputs EndpointFor(const std::string& bucket, const std::string& region,
                             const OperationRules& rules = {}) const;
};

// Precedence: `config` (where set), environment, profile, default. Without any region: us-east-1
// with a custom endpoint, else an error. Returns kInvalidArgument with the value, its origin, the
// limit and the fix.
Result<ResolvedConfig> ResolveConfig(ClientConfig config, const auth::Environment& environment);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CONFIG_CONFIG_H_
