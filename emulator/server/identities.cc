#include "emulator/server/identities.h"

#include <utility>

#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::emulator::server {
namespace {

std::string AccountId(const Sha256Digest& digest) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word = word << 8 | std::to_integer<std::uint64_t>(digest[i]);
  std::string digits = std::to_string(word % 1'000'000'000'000ull);
  return std::string(12 - digits.size(), '0') + digits;
}

}  // namespace

api::Identity IdentityOf(const std::string& access_key_id) {
  const Sha256Digest digest = Sha256(AsBytes("penstock owner of " + access_key_id));
  api::Identity identity;
  identity.access_key_id = access_key_id;
  identity.owner_id = HexEncode(digest);
  identity.display_name = access_key_id;
  identity.account_id = AccountId(digest);
  return identity;
}

Identities::Identities(const std::vector<AccessKey>& keys, Universe& shared) : shared_(shared) {
  for (const AccessKey& key : keys) {
    auth::User user;
    user.access_key_id = key.id;
    user.secret_access_key = key.secret;
    user.identity = IdentityOf(key.id);
    entries_.insert_or_assign(key.id, Entry{std::move(user), &shared_});
  }
}

std::optional<auth::User> Identities::FindUser(std::string_view access_key_id) const {
  const auto found = entries_.find(access_key_id);
  if (found == entries_.end()) return std::nullopt;
  return found->second.user;
}

std::shared_ptr<api::Namespace> Identities::NamespaceFor(const api::Identity& identity) const {
  const auto found = entries_.find(identity.access_key_id);
  return (found == entries_.end() ? shared_ : *found->second.universe).Current();
}

}  // namespace penstock::emulator::server
