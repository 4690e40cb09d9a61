#include "emulator/policy/evaluator.h"

#include <algorithm>
#include <optional>

#include "emulator/policy/principal.h"

namespace penstock::emulator::policy {
namespace {

bool MatchesAny(const std::vector<Pattern>& patterns, std::string_view value,
                const Context& context, Pattern::Case letters) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& pattern) {
    return pattern.Matches(value, context, letters);
  });
}

// Everything but the principal.
bool Covers(const Statement& statement, const Request& request) {
  const Context& context = *request.context;
  if (MatchesAny(statement.actions, request.action, context, Pattern::Case::kIgnored) ==
      statement.not_action)
    return false;
  // A trust policy has no resources.
  if (!statement.resources.empty() && MatchesAny(statement.resources, request.resource, context,
                                                 Pattern::Case::kMatters) == statement.not_resource)
    return false;
  return std::all_of(statement.conditions.begin(), statement.conditions.end(),
                     [&](const Condition& condition) { return Holds(condition, context); });
}

// What the resource policy allows, by the most direct naming of the principal.
struct ResourceAllow {
  Match match;
  Naming naming = Naming::kNone;
};

ResourceAllow FindResourceAllow(const Request& request) {
  ResourceAllow best;
  if (request.resource_policy == nullptr || !request.resource_policy_allows) return best;
  const std::vector<Statement>& statements = request.resource_policy->statements;
  for (std::size_t i = 0; i < statements.size() && best.naming != Naming::kDirect; ++i) {
    const Statement& statement = statements[i];
    if (statement.effect != Effect::kAllow || !statement.principal) continue;
    const Naming naming = NamingOf(*statement.principal, request.principal);
    if (naming > best.naming && Covers(statement, request))
      best = {{&statement, static_cast<int>(i)}, naming};
  }
  return best;
}

Decision Decide(bool allowed, Source source, const Match& match, std::string_view policy = {}) {
  return {allowed, source, match.statement, match.index, policy};
}

std::optional<Decision> FindIn(const NamedPolicy& named, Effect effect, Source source,
                               const Request& request) {
  const Match match = FindStatement(*named.document, effect, request);
  if (match.statement == nullptr) return std::nullopt;
  return Decide(effect == Effect::kAllow, source, match, named.name);
}

std::optional<Decision> FindDeny(const Request& request) {
  const bool exempt = request.root_always && request.same_account &&
                      request.principal.type == Principal::Type::kRoot;
  if (request.resource_policy != nullptr && !exempt) {
    const Match match = FindStatement(*request.resource_policy, Effect::kDeny, request);
    if (match.statement != nullptr) return Decide(false, Source::kResourcePolicy, match);
  }
  const PrincipalPolicies* const policies = request.principal.policies;
  if (policies == nullptr) return std::nullopt;
  for (const NamedPolicy& named : policies->identity) {
    if (auto deny = FindIn(named, Effect::kDeny, Source::kIdentityPolicy, request)) return deny;
  }
  if (policies->boundary) {
    if (auto deny = FindIn(*policies->boundary, Effect::kDeny, Source::kBoundary, request))
      return deny;
  }
  return policies->session
             ? FindIn(*policies->session, Effect::kDeny, Source::kSessionPolicy, request)
             : std::nullopt;
}

// Returns the implicit deny of the permission boundary or of the session policy; nullopt if they
// allow the request.
std::optional<Decision> FindLimit(const Request& request) {
  const PrincipalPolicies* const policies = request.principal.policies;
  if (policies == nullptr) return std::nullopt;
  if (policies->boundary &&
      !FindIn(*policies->boundary, Effect::kAllow, Source::kBoundary, request))
    return Decide(false, Source::kBoundary, {}, policies->boundary->name);
  if (policies->session &&
      !FindIn(*policies->session, Effect::kAllow, Source::kSessionPolicy, request))
    return Decide(false, Source::kSessionPolicy, {}, policies->session->name);
  return std::nullopt;
}

// What the principal's own account says.
Decision DecideIdentity(const Request& request) {
  const PrincipalPolicies* const policies = request.principal.policies;
  if (policies == nullptr) return Decide(true, Source::kRoot, {});
  for (const NamedPolicy& named : policies->identity) {
    const auto allow = FindIn(named, Effect::kAllow, Source::kIdentityPolicy, request);
    if (!allow) continue;
    const auto limit = FindLimit(request);
    return limit ? *limit : *allow;
  }
  return Decide(false, Source::kIdentityPolicy, {});
}

// A resource policy of the principal's own account needs no identity policy, unless it names only
// the account. What it grants to a role or to everyone stays within the permission boundary and the
// session policy, and what it grants to a user stays within the session policy.
std::optional<Decision> DecideByOwnResourcePolicy(const Request& request,
                                                  const ResourceAllow& allow) {
  if (allow.naming <= Naming::kAccount) return std::nullopt;
  const Principal& principal = request.principal;
  const Decision allowed = Decide(true, Source::kResourcePolicy, allow.match);
  if (principal.policies == nullptr) return allowed;
  if (allow.naming == Naming::kDirect) {
    const bool limited =
        principal.type == Principal::Type::kUser && principal.policies->session &&
        !FindIn(*principal.policies->session, Effect::kAllow, Source::kSessionPolicy, request);
    return limited ? std::nullopt : std::optional(allowed);
  }
  return FindLimit(request) ? std::nullopt : std::optional(allowed);
}

bool IsAllowedInitiator(const Request& request) {
  return request.acl == AclGrant::kToInitiator && !FindLimit(request);
}

Decision DecideInAccount(const Request& request) {
  if (request.principal.policies == nullptr) return Decide(true, Source::kRoot, {});
  if (const auto allowed = DecideByOwnResourcePolicy(request, FindResourceAllow(request)))
    return *allowed;
  if (request.acl == AclGrant::kToGroup && !FindLimit(request))
    return Decide(true, Source::kAcl, {});
  if (IsAllowedInitiator(request)) return Decide(true, Source::kInitiator, {});
  return DecideIdentity(request);
}

// Both accounts must allow the request.
Decision DecideAcrossAccounts(const Request& request) {
  if (IsAllowedInitiator(request)) return Decide(true, Source::kInitiator, {});
  const ResourceAllow allow = FindResourceAllow(request);
  const bool acl = request.acl != AclGrant::kNone;
  if (allow.naming == Naming::kNone && !acl) return Decide(false, Source::kResourcePolicy, {});
  if (request.principal.type != Principal::Type::kAnonymous) {
    const Decision own = DecideIdentity(request);
    if (!own.allowed) return own;
  }
  return allow.naming != Naming::kNone ? Decide(true, Source::kResourcePolicy, allow.match)
                                       : Decide(true, Source::kAcl, {});
}

}  // namespace

std::string_view NameOf(Source source) {
  switch (source) {
    case Source::kNone: return "none";
    case Source::kRoot: return "account-root";
    case Source::kResourcePolicy: return "resource-policy";
    case Source::kAcl: return "acl";
    case Source::kInitiator: return "initiator";
    case Source::kIdentityPolicy: return "identity-policy";
    case Source::kBoundary: return "permissions-boundary";
    case Source::kSessionPolicy: return "session-policy";
  }
  return "";
}

Match FindStatement(const Document& document, Effect effect, const Request& request) {
  for (std::size_t i = 0; i < document.statements.size(); ++i) {
    const Statement& statement = document.statements[i];
    if (statement.effect != effect) continue;
    if (statement.principal && NamingOf(*statement.principal, request.principal) == Naming::kNone)
      continue;
    if (Covers(statement, request)) return {&statement, static_cast<int>(i)};
  }
  return {};
}

Decision Evaluate(const Request& request) {
  if (const auto deny = FindDeny(request)) return *deny;
  return request.same_account ? DecideInAccount(request) : DecideAcrossAccounts(request);
}

std::string DenialReason(const Decision& decision, std::string_view action) {
  std::string_view kind = "identity-based policy";
  std::string_view article = "an ";
  if (decision.source == Source::kResourcePolicy || decision.source == Source::kAcl) {
    kind = "resource-based policy";
    article = "a ";
  } else if (decision.source == Source::kBoundary) {
    kind = "permissions boundary";
    article = "a ";
  } else if (decision.source == Source::kSessionPolicy) {
    kind = "session policy";
    article = "a ";
  }
  if (decision.explicit_deny())
    return "with an explicit deny in " + std::string(article) + std::string(kind);
  return "because no " + std::string(kind) + " allows the " + std::string(action) + " action";
}

}  // namespace penstock::emulator::policy
