// Who may assume a role: the evaluation of its trust policy (IAM User Guide, "Policy evaluation
// logic", and AWS STS API Reference, AssumeRole).
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_TRUST_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_TRUST_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/identity/account_access.h"
#include "emulator/policy/pattern.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::identity {

// The condition keys of a request to STS.
class StsContext final : public policy::Context {
 public:
  // Has the keys that every request has: aws:SourceIp, aws:SecureTransport, aws:CurrentTime and
  // aws:EpochTime; and those about the requester of a signed one. Refers to `exchange`.
  explicit StsContext(const s3::Exchange& exchange);
  void Set(std::string_view key, std::string value) { SetAll(key, {std::move(value)}); }
  void SetAll(std::string_view key, std::vector<std::string> values) {
    values_.insert_or_assign(policy::ContextKey(key), std::move(values));
  }
  std::optional<Values> Find(std::string_view key) const override;

 private:
  const s3::Identity& caller_;
  std::map<std::string, Values, std::less<>> values_;
};

// Whether policies of the caller are evaluated besides the trust policy.
enum class IdentityPolicies { kEvaluated, kIgnored };

// True if the caller may assume the role: the trust policy names the caller, or names its account
// and the caller's own policies allow the action. Between accounts both must allow it.
bool MayAssume(const s3::Identity& caller, std::string_view role_account, const Role& role,
               const StsContext& context, IdentityPolicies policies);

// True if the trust policy allows sts:AssumeRoleWithWebIdentity to tokens of the provider, an ARN.
bool MayAssumeWithToken(const Role& role, std::string_view provider_arn, const StsContext& context);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_TRUST_H_
