// The policy document of a browser's form (spec/protocol.md §2.15): what it says, and whether a
// form keeps to it. Not a bucket policy, which is policy.h's; the signature over it is
// emulator/auth's.
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

// Both ends are allowed sizes.
struct SizeRange {
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};

struct PostCondition {
  // kNever: what nothing can meet
  enum class Kind : std::uint8_t { kEqual, kStartsWith, kSize, kNever };
  Kind kind = Kind::kEqual;
  std::string field;     // without its '$'
  std::string operand;   // kEqual, kStartsWith
  SizeRange size;        // kSize
  std::string as_shown;  // as S3's refusals print it: ["eq", "$key", "value"]
};

struct PostPolicy {
  WallTime expiration{};
  std::vector<PostCondition> conditions;

  // What all conditions on it leave.
  SizeRange size() const;
};

// InvalidPolicyDocument when the base64, the JSON or a condition's form is wrong.
Result<PostPolicy> ParsePostPolicy(std::string_view base64);

// AccessDenied "Invalid according to Policy: ..." when it has expired, a condition fails, or a
// field has none. The size of the file is not known yet and not looked at.
Result<void> CheckPostPolicy(const PostPolicy& policy, const std::vector<FormField>& fields,
                             std::string_view bucket, WallTime now);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_POST_POST_POLICY_H_
