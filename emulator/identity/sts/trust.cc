#include "emulator/identity/sts/trust.h"

#include <algorithm>
#include <chrono>

#include "base/dates.h"
#include "emulator/policy/evaluator.h"
#include "emulator/s3/core/access.h"

namespace penstock::emulator::identity {
namespace {

constexpr std::string_view kAssumeRole = "sts:AssumeRole";
constexpr std::string_view kWithWebIdentity = "sts:AssumeRoleWithWebIdentity";

bool Applies(const policy::Statement& statement, std::string_view provider_arn,
             const StsContext& context) {
  if (!statement.principal) return false;
  const std::vector<std::string>& federated = statement.principal->federated;
  const auto lists = [&federated](std::string_view name) {
    return std::find(federated.begin(), federated.end(), name) != federated.end();
  };
  // A denial of everyone is also for tokens. A permission must name the provider.
  const bool denies_everyone =
      statement.effect == policy::Effect::kDeny && (statement.principal->everyone || lists("*"));
  const bool is_named = lists(provider_arn) || denies_everyone;
  if (is_named == statement.principal->negated) return false;
  const bool has_action = std::any_of(
      statement.actions.begin(), statement.actions.end(), [&](const policy::Pattern& action) {
        return action.Matches(kWithWebIdentity, context, policy::Pattern::Case::kIgnored);
      });
  return has_action != statement.not_action &&
         std::all_of(statement.conditions.begin(), statement.conditions.end(),
                     [&](const policy::Condition& each) { return Holds(each, context); });
}

}  // namespace

StsContext::StsContext(const s3::Exchange& exchange) : caller_(exchange.identity) {
  const WallTime now = *exchange.Now();
  Set("aws:SourceIp", s3::AddressOf(exchange.connection.peer));
  Set("aws:SecureTransport", exchange.connection.tls ? "true" : "false");
  Set("aws:CurrentTime", FormatIso8601(now));
  Set("aws:EpochTime",
      std::to_string(
          std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count()));
}

std::optional<policy::Context::Values> StsContext::Find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second;
  constexpr std::string_view kGlobal = "aws:";
  if (caller_.anonymous() || !key.starts_with(kGlobal)) return std::nullopt;
  return s3::FindPrincipalKey(caller_, key.substr(kGlobal.size()));
}

bool MayAssume(const s3::Identity& caller, std::string_view role_account, const Role& role,
               const StsContext& context, IdentityPolicies policies) {
  const std::string arn = RoleArn(role_account, role);
  policy::Request request{.principal = s3::PrincipalOf(caller),
                          .action = kAssumeRole,
                          .resource = arn,
                          .same_account = caller.account_id == role_account,
                          .resource_policy = role.trust_policy.get(),
                          .context = &context};
  using policy::Effect;
  const policy::Document& trust = *role.trust_policy;
  // Unlike other resource policies, a trust policy must allow the caller.
  if (policy::FindStatement(trust, Effect::kAllow, request).statement == nullptr) return false;
  if (policies == IdentityPolicies::kEvaluated) return policy::Evaluate(request).allowed;
  return policy::FindStatement(trust, Effect::kDeny, request).statement == nullptr;
}

bool MayAssumeWithToken(const Role& role, std::string_view provider_arn,
                        const StsContext& context) {
  bool allowed = false;
  for (const policy::Statement& statement : role.trust_policy->statements) {
    if (!Applies(statement, provider_arn, context)) continue;
    if (statement.effect == policy::Effect::kDeny) return false;
    allowed = true;
  }
  return allowed;
}

}  // namespace penstock::emulator::identity
