#include "emulator/s3/core/access.h"

#include "base/dates.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/tags.h"

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

std::optional<policy::Context::Values> FindPrincipalKey(const Identity& who,
                                                        std::string_view name) {
  using Values = policy::Context::Values;
  const bool anonymous = who.owner_id.empty();
  const bool is_role = !who.role_arn.empty();
  const auto known = [](std::string_view value) {
    return value.empty() ? std::nullopt : std::optional(Values{std::string(value)});
  };
  if (name == "principalaccount") return known(anonymous ? "anonymous" : who.account_id);
  if (name == "principaltype") {
    return known(anonymous               ? "Anonymous"
                 : is_role               ? "AssumedRole"
                 : who.user_name.empty() ? "Account"
                                         : "User");
  }
  if (name == "principalarn") return known(is_role ? who.role_arn : who.arn);
  if (name == "userid") {
    if (anonymous) return known("anonymous");
    return known(who.user_id.empty() ? who.account_id : who.user_id);
  }
  // Sessions of roles have none.
  if (name == "username" && !is_role) return known(who.user_name);
  if (name == "principalisawsservice") return known("false");
  // The emulator has no MFA devices.
  if (name == "multifactorauthpresent" && who.temporary) return known("false");
  if (name == "tokenissuetime" && who.issued) return known(FormatIso8601(*who.issued));
  constexpr std::string_view kTag = "principaltag/";
  if (!name.starts_with(kTag) || who.policies == nullptr) return std::nullopt;
  const auto value = FindTag(who.policies->tags, name.substr(kTag.size()));
  // The value of a tag may be empty.
  return value ? std::optional(Values{std::string(*value)}) : std::nullopt;
}

std::string AddressOf(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  constexpr std::string_view kMapped = "::ffff:";  // IPv4 on an IPv6 socket.
  if (peer.starts_with(kMapped) && peer.find('.') != peer.npos) peer.remove_prefix(kMapped.size());
  return std::string(peer);
}

}  // namespace penstock::emulator::s3
