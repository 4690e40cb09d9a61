#include "emulator/policy/principal.h"

#include <algorithm>
#include <string_view>

namespace penstock::emulator::policy {
namespace {

using Type = Principal::Type;

// "arn:aws:iam::111122223333:root" and "111122223333" name an account.
bool IsAccount(std::string_view name, std::string_view account_id) {
  if (name == account_id) return true;
  constexpr std::string_view kEnd = ":root";
  if (!name.starts_with("arn:") || !name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  if (!name.ends_with(account_id)) return false;
  name.remove_suffix(account_id.size());
  return name.ends_with(":iam::");
}

// The unique id of a role session is "ROLE:SESSION".
std::string_view RoleId(std::string_view user_id) { return user_id.substr(0, user_id.find(':')); }

Naming NamingBy(std::string_view name, const Principal& principal) {
  const bool root = principal.type == Type::kRoot;
  if (name == "*") return Naming::kEveryone;
  if (principal.type == Type::kAnonymous) return Naming::kNone;
  if (IsAccount(name, principal.account_id)) return root ? Naming::kDirect : Naming::kAccount;
  if (root) return Naming::kNone;
  if (!principal.arn.empty() && name == principal.arn) return Naming::kDirect;
  if (!principal.user_id.empty() && name == principal.user_id) return Naming::kDirect;
  if (principal.type != Type::kRoleSession) return Naming::kNone;
  const bool is_role = name == principal.role_arn || name == RoleId(principal.user_id);
  return is_role && !name.empty() ? Naming::kRole : Naming::kNone;
}

// NotPrincipal exempts a principal if it lists each of its forms: the account; the user, or the
// role and its session.
bool IsExempt(const PrincipalElement& element, const Principal& principal) {
  if (element.everyone) return true;
  if (principal.type == Type::kAnonymous) return false;
  const auto lists = [&](Naming naming) {
    return std::any_of(element.aws.begin(), element.aws.end(), [&](const std::string& name) {
      return NamingBy(name, principal) == naming;
    });
  };
  const bool canonical = std::find(element.canonical_users.begin(), element.canonical_users.end(),
                                   principal.canonical_id) != element.canonical_users.end();
  switch (principal.type) {
    case Type::kAnonymous: return false;
    case Type::kRoot: return canonical || lists(Naming::kDirect);
    case Type::kUser: return (canonical || lists(Naming::kAccount)) && lists(Naming::kDirect);
    case Type::kRoleSession:
      return (canonical || lists(Naming::kAccount)) && lists(Naming::kRole) &&
             lists(Naming::kDirect);
  }
  return false;
}

}  // namespace

Naming NamingOf(const PrincipalElement& element, const Principal& principal) {
  if (element.negated) return IsExempt(element, principal) ? Naming::kNone : Naming::kEveryone;
  Naming best = element.everyone ? Naming::kEveryone : Naming::kNone;
  for (const std::string& name : element.aws) best = std::max(best, NamingBy(name, principal));
  if (principal.type == Type::kAnonymous) return best;
  for (const std::string& id : element.canonical_users) {
    if (id != principal.canonical_id) continue;
    best = std::max(best, principal.type == Type::kRoot ? Naming::kDirect : Naming::kAccount);
  }
  return best;
}

}  // namespace penstock::emulator::policy
