// ClientConfig completed from the environment and the profile, and checked (spec/protocol.md §3.2,
// §3.3, §4).
#ifndef PENSTOCK_CLIENT_S3_CONFIG_H_
#define PENSTOCK_CLIENT_S3_CONFIG_H_

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
  // region, endpoint_url, max_attempts, ca_bundle_path, profile as they apply
  ClientConfig client;
  std::optional<EndpointUrl> endpoint;  // of client.endpoint_url
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
  int max_attempts = 10;  // also in client.max_attempts
  // of client.retry_mode, which is not kDefault any more
  const RetryRules* retry_rules = &kRetryRules.front();

  // The resolver's inputs for an operation on one bucket, signed for `region`.
  EndpointInputs EndpointFor(const std::string& bucket, const std::string& region,
                             const OperationRules& rules = {}) const;
};

// Precedence: `config` (where set), environment, profile, default. Without a region anywhere:
// us-east-1 with a custom endpoint, else an error. kInvalidArgument naming the value, where it came
// from, the limit and the fix.
Result<ResolvedConfig> ResolveConfig(ClientConfig config, const auth::Environment& environment);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CONFIG_H_
