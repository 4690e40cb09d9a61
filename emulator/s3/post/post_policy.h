// The policy document of a browser's form: parsing, and the check of a form against it. policy.h
// has bucket policies; emulator/auth verifies the signature of the document.
#ifndef PENSTOCK_EMULATOR_S3_POST_POST_POLICY_H_
#define PENSTOCK_EMULATOR_S3_POST_POST_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/post/form.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Inclusive bounds, in bytes.
struct SizeRange {
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};

struct PostCondition {
  // kNever: a condition that always fails.
  enum class Kind : std::uint8_t { kEqual, kStartsWith, kSize, kNever };
  Kind kind = Kind::kEqual;
  std::string field;        // Without the '$'.
  std::string operand;      // For kEqual and kStartsWith.
  SizeRange size;           // For kSize.
  std::string description;  // As in S3's errors: ["eq", "$key", "value"].
};

struct PostPolicy {
  WallTime expiration{};
  std::vector<PostCondition> conditions;

  // Returns the intersection of all size conditions.
  SizeRange size() const;
};

// Returns InvalidPolicyDocument if the base64, the JSON or a condition is malformed.
Result<PostPolicy> ParsePostPolicy(std::string_view base64);

// Returns AccessDenied "Invalid according to Policy: ..." if the policy has expired, a condition
// fails, or a field has no condition. Does not check the size of the file, which is not known yet.
Result<void> CheckPostPolicy(const PostPolicy& policy, const std::vector<FormField>& fields,
                             std::string_view bucket, WallTime now);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_POST_POST_POLICY_H_
