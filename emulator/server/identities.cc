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

api::Identity MakeIdentity(std::string_view access_key_id) {
  const Sha256Digest digest = Sha256(AsBytes("penstock owner of " + std::string(access_key_id)));
  api::Identity identity;
  identity.access_key_id = access_key_id;
  identity.owner_id = HexEncode(digest);
  identity.display_name = access_key_id;
  identity.account_id = AccountId(digest);
  identity.arn = "arn:aws:iam::" + identity.account_id + ":root";
  return identity;
}

Identities::Identities(const std::vector<AccessKey>& keys, Universe& shared) : shared_(shared) {
  for (const AccessKey& key : keys) {
    auto user = std::make_shared<auth::User>();
    user->access_key_id = key.id;
    user->secret_access_key = key.secret;
    user->identity = MakeIdentity(key.id);
    if (users_.empty()) default_identity_ = user->identity;
    users_.insert_or_assign(key.id, std::move(user));
  }
}

std::shared_ptr<const auth::User> Identities::FindUser(std::string_view access_key_id) const {
  const auto found = users_.find(access_key_id);
  return found == users_.end() ? nullptr : found->second;
}

std::shared_ptr<api::Namespace> Identities::NamespaceOf(const auth::User*) const { return shared_.Current(); }

api::Identity Identities::IdentityOf(std::string_view access_key_id) const { return MakeIdentity(access_key_id); }

}  // namespace penstock::emulator::server
