// The credentials of roles that instances and containers receive without a key: one current session
// of each role, replaced before it expires, by the clock of the role's namespace.
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_ROLE_CREDENTIALS_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_ROLE_CREDENTIALS_H_

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "emulator/identity/identities.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::identity {

// As on EC2 and ECS.
inline constexpr std::chrono::hours kRoleCredentialsDuration{6};
// EC2 documents that new credentials are available at least this long before the old ones expire
// ("Retrieve security credentials from instance metadata").
inline constexpr std::chrono::minutes kRenewedBeforeExpiry{5};

// Thread safety: methods may be called from any thread.
class RoleCredentials {
 public:
  explicit RoleCredentials(Identities& identities) : identities_(identities) {}

  struct Current {
    SessionRecord session;
    WallTime issued{};
  };
  // The current session of the role, or a new one. `session_name` is the end of its ARN. The errors
  // of Identities::AddSession.
  Result<Current> Get(std::string_view account_id, const Role& role,
                      const std::string& session_name);

  Identities& identities() const { return identities_; }

 private:
  Identities& identities_;
  Mutex mutex_;
  std::map<std::string, Current, std::less<>> current_ PENSTOCK_GUARDED_BY(mutex_);  // by ARN
};

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_ROLE_CREDENTIALS_H_
