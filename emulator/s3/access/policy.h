// Bucket policies: validated, stored and returned unchanged, and tested for public access.
//
// s3/authorization evaluates them.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_

#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr const char* kPolicyKey = "policy";  // In a bucket's configuration.

// Returns MalformedPolicy with S3's message unless `text` is a policy for `bucket`.
Result<void> CheckPolicy(std::string_view text, std::string_view bucket);

// True if an Allow statement applies to everyone, without a condition that limits the principals.
// `text` need not pass CheckPolicy: an older version may have stored it.
bool IsPublicPolicy(std::string_view text);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
