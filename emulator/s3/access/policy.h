// Bucket policies: validated, stored and returned unchanged, and tested for public access.
//
// The emulator does not evaluate policies; see core/access.h.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_

#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct PolicyFacts {
  // An Allow statement applies to everyone, without a condition that limits the principals.
  bool is_public = false;
};

// Returns MalformedPolicy with S3's message unless `text` is a policy for `bucket`.
Result<PolicyFacts> CheckPolicy(std::string_view text, std::string_view bucket);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
