// Which principals a statement of a resource policy names (IAM User Guide, "AWS JSON policy
// elements: Principal" and "NotPrincipal").
#ifndef PENSTOCK_EMULATOR_POLICY_PRINCIPAL_H_
#define PENSTOCK_EMULATOR_POLICY_PRINCIPAL_H_

#include <cstdint>

#include "emulator/policy/document.h"
#include "emulator/policy/evaluator.h"

namespace penstock::emulator::policy {

// How directly a statement names a principal. The higher ones need fewer other policies.
enum class Naming : std::uint8_t {
  kNone,
  kAccount,   // The account, which delegates to its identity policies.
  kEveryone,  // "*".
  kRole,      // The role of a session.
  kDirect,    // The user, the role session or the root.
};

// Returns the most direct naming, kNone if the statement does not apply to the principal.
Naming NamingOf(const PrincipalElement& element, const Principal& principal);

}  // namespace penstock::emulator::policy

#endif  // PENSTOCK_EMULATOR_POLICY_PRINCIPAL_H_
