#include "emulator/s3/core/access.h"

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {

Result<void> Authorize(const Identity& who, const store::BucketRecord& bucket) {
  PENSTOCK_TRY(RequireAccount(who));
  if (who.session && !who.session->bucket.empty() && who.session->bucket != bucket.name.value)
    return MakeError("AccessDenied");
  if (who.owner_id == bucket.owner_id) return Ok();
  return MakeError("AccessDenied");
}

Result<void> RequireAccount(const Identity& who) {
  if (!who.owner_id.empty()) return Ok();
  return MakeError("AccessDenied");
}

policy::Principal PrincipalOf(const Identity& who) {
  using policy::Principal;
  Principal principal;
  if (who.owner_id.empty()) return principal;
  principal.type = !who.role_arn.empty()    ? Principal::Type::kRoleSession
                   : !who.user_name.empty() ? Principal::Type::kUser
                                            : Principal::Type::kRoot;
  principal.account_id = who.account_id;
  principal.canonical_id = who.owner_id;
  principal.arn = who.arn;
  principal.role_arn = who.role_arn;
  principal.user_id = who.user_id;
  principal.policies = who.policies.get();
  return principal;
}

std::string AddressOf(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  constexpr std::string_view kMapped = "::ffff:";  // IPv4 on an IPv6 socket.
  if (peer.starts_with(kMapped) && peer.find('.') != peer.npos) peer.remove_prefix(kMapped.size());
  return std::string(peer);
}

}  // namespace penstock::emulator::s3
