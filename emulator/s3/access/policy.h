// Bucket policies: checked, kept as they were sent, given back, and asked one thing: is it public?
//
// Nobody is let in or kept out by a policy yet; see access.h (spec/protocol.md §2.17 "Policy").
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_

#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct PolicyFacts {
  // some Allow is for everybody, under no condition that narrows who that is
  bool is_public = false;
};

// MalformedPolicy, with S3's sentence, unless `text` is a policy for `bucket`.
Result<PolicyFacts> CheckPolicy(std::string_view text, std::string_view bucket);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_H_
