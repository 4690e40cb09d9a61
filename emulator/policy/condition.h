// The conditions of a policy's statement (IAM User Guide, "IAM JSON policy elements: Condition
// operators").
#ifndef PENSTOCK_EMULATOR_POLICY_CONDITION_H_
#define PENSTOCK_EMULATOR_POLICY_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/policy/pattern.h"

namespace penstock::emulator::policy {

struct ConditionOperator {
  enum class Test : std::uint8_t {
    kStringEquals,
    kStringEqualsIgnoreCase,
    kStringLike,
    kNumericEquals,
    kNumericLessThan,
    kNumericLessThanEquals,
    kNumericGreaterThan,
    kNumericGreaterThanEquals,
    kDateEquals,
    kDateLessThan,
    kDateLessThanEquals,
    kDateGreaterThan,
    kDateGreaterThanEquals,
    kBool,
    kBinaryEquals,
    kIpAddress,
    kArnLike,  // ArnEquals is the same.
    kNull,
  };
  enum class Set : std::uint8_t { kNone, kForAllValues, kForAnyValue };
  Test test = Test::kNull;
  bool negated = false;  // "StringNotLike"
  bool if_exists = false;
  Set set = Set::kNone;
};

// Ignores case. Returns nullopt for an unknown operator.
std::optional<ConditionOperator> FindConditionOperator(std::string_view name);

// One key of an operator's block.
struct Condition {
  ConditionOperator op;
  std::string key;              // ContextKey() of the name.
  std::vector<Pattern> values;  // The key matches one of them, or, if negated, none.
};

// Returns the problem with a value of the operator, for example a malformed address, or an empty
// string.
std::string ConditionValueProblem(const ConditionOperator& op, std::string_view value);

// True if the request satisfies the condition.
bool Holds(const Condition& condition, const Context& context);

}  // namespace penstock::emulator::policy

#endif  // PENSTOCK_EMULATOR_POLICY_CONDITION_H_
