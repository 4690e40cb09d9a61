// Decides a request that is described instead of sent.
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_EXPLAIN_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_EXPLAIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/policy/pattern.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct DescribedRequest {
  Identity identity;     // Anonymous: an empty one.
  std::string action;    // "s3:GetObject".
  std::string resource;  // "arn:aws:s3:::bucket/key".
  // Condition keys as in policies ("aws:SourceIp"). Tags of the object and the settings of the
  // bucket are those of the namespace.
  std::vector<std::pair<std::string, policy::Context::Values>> context;
};

// Returns the decision as JSON (decisions.h). kInvalidArgument for another ARN or action than those
// of S3, kNotFound for an unknown bucket.
Result<std::string> ExplainDescribed(std::shared_ptr<Namespace> space, const RouterOptions& options,
                                     const DescribedRequest& request);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_EXPLAIN_H_
