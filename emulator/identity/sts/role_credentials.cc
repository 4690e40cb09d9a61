#include "emulator/identity/sts/role_credentials.h"

#include <utility>

#include "emulator/identity/sts/sts.h"

namespace penstock::emulator::identity {

Result<RoleCredentials::Current> RoleCredentials::Get(std::string_view account_id, const Role& role,
                                                      const std::string& session_name) {
  PENSTOCK_ASSIGN(const auto space, identities_.OpenNamespace(role.name_space));
  const WallTime now = space->clock->Now();
  const std::string arn = RoleArn(account_id, role) + " " + session_name;
  {
    const MutexLock lock(mutex_);
    const auto found = current_.find(arn);
    // The session may have been deleted, or the clock set back before it began.
    if (found != current_.end() && found->second.session.name_space == role.name_space &&
        found->second.issued <= now && now + kRenewedBeforeExpiry < found->second.session.expires &&
        identities_.IsSession(found->second.session.access_key_id))
      return found->second;
  }
  PENSTOCK_ASSIGN(
      SessionRecord session,
      StartRoleSession(identities_, account_id, role, session_name, now, kRoleCredentialsDuration));
  Current current{std::move(session), now};
  const MutexLock lock(mutex_);
  current_.insert_or_assign(arn, current);
  return current;
}

}  // namespace penstock::emulator::identity
