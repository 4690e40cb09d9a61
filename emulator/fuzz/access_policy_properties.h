// Properties of policy documents and of their evaluation.
#ifndef PENSTOCK_EMULATOR_FUZZ_ACCESS_POLICY_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_ACCESS_POLICY_PROPERTIES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/policy/evaluator.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

// A request that has a value for every key except those whose name contains 'x'.
class FuzzContext final : public policy::Context {
 public:
  std::optional<Values> Find(std::string_view key) const override {
    if (key.find('x') != std::string_view::npos) return std::nullopt;
    if (key.find("ip") != std::string_view::npos) return Values{"203.0.113.7"};
    if (key.find("time") != std::string_view::npos) return Values{"2026-01-02T03:04:05Z"};
    if (key.find("keys") != std::string_view::npos) return Values{"10", "a"};
    return Values{"ann"};
  }
};

// A denying statement always wins, a document decides the same each time, and without an allowing
// statement nothing is allowed.
inline void CheckEvaluation(const policy::Document& document, policy::Request request) {
  const FuzzContext context;
  request.context = &context;
  request.resource_policy = &document;
  const policy::PrincipalPolicies none;
  request.principal.policies =
      request.principal.type == policy::Principal::Type::kRoot ? nullptr : &none;
  const bool denies =
      policy::FindStatement(document, policy::Effect::kDeny, request).statement != nullptr;
  const bool allows =
      policy::FindStatement(document, policy::Effect::kAllow, request).statement != nullptr;
  const policy::Decision decision = policy::Evaluate(request);
  PENSTOCK_CHECK(decision.allowed == policy::Evaluate(request).allowed);
  if (denies) PENSTOCK_CHECK(!decision.allowed && decision.explicit_deny());
  if (request.principal.type != policy::Principal::Type::kRoot && !allows)
    PENSTOCK_CHECK(!decision.allowed);
}

inline void CheckAccessPolicy(std::string_view input) {
  static_cast<void>(policy::ParseTrustPolicy(input));
  const auto identity = policy::ParseIdentityPolicy(input);
  const auto resource = policy::ParseResourcePolicy(input);
  // A policy of one type has principals, the other none.
  PENSTOCK_CHECK(!identity.ok() || !resource.ok());
  if (!resource.ok()) return;
  for (const auto type : {policy::Principal::Type::kAnonymous, policy::Principal::Type::kRoot,
                          policy::Principal::Type::kUser}) {
    policy::Request request;
    request.principal = {.type = type,
                         .account_id = "111122223333",
                         .canonical_id = "c",
                         .arn = "arn:aws:iam::111122223333:user/Ann"};
    request.action = "s3:GetObject";
    request.resource = "arn:aws:s3:::bucket/home/ann/file";
    request.same_account = type != policy::Principal::Type::kAnonymous;
    CheckEvaluation(**resource, request);
  }
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_ACCESS_POLICY_PROPERTIES_H_
