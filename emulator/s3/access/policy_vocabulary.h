// The actions and condition keys that policies of S3 buckets may name, from AWS's Service
// Authorization Reference. Pure. Only PutBucketPolicy and explanations use it.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_H_

#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::emulator::s3 {

enum class PolicyValueType : std::uint8_t {
  kString,
  kStringList,  // Several values per request, for ForAllValues and ForAnyValue.
  kNumber,
  kBool,
  kDate,
  kArn,
  kIpAddress,
};

struct PolicyKey {
  std::string_view name;  // "s3:prefix". A name that ends with '/' is followed by a tag's key.
  PolicyValueType type;
  bool every_action;  // Every action of the service has the key.
};

struct PolicyAction {
  std::string_view name;  // "s3:PutObject".
  // The resources that the action applies to. Neither: others, such as jobs and access points.
  bool on_bucket;
  bool on_object;
  // The action's keys without the prefix of the service and without those of every action,
  // separated by spaces.
  std::string_view keys;
};

// All actions of S3 ("s3:") and of S3 Express One Zone ("s3express:"), sorted by name.
std::span<const PolicyAction> PolicyActions();
// All global keys ("aws:") and those of both services.
std::span<const PolicyKey> PolicyKeys();

// Ignores case. Returns null for unknown names. A tag's key must not be empty.
const PolicyKey* FindPolicyKey(std::string_view name);

// Members are positions in PolicyActions().
using PolicyActionSet = std::bitset<256>;

// `pattern`: "s3:PutObject", "s3:Get*" or "*". Ignores case.
PolicyActionSet MatchPolicyActions(std::string_view pattern);
PolicyActionSet PolicyActionsWithKey(const PolicyKey& key);

// True if `pattern` matches all of `text`: '*' matches any bytes, '?' matches one byte. Case
// matters.
bool MatchesPolicyPattern(std::string_view pattern, std::string_view text);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_VOCABULARY_H_
