// Who may ask: access keys and the identities they stand for.
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITIES_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITIES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/auth/auth.h"
#include "emulator/server/universe.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// The identity of an access key, the same on every run: owner id (64 hex digits) and account id (12 digits) come from
// the key's name alone.
api::Identity MakeIdentity(std::string_view access_key_id);

// Thread safety: safe from any thread; keys and universes are fixed after construction.
class Identities final : public auth::Directory {
 public:
  // Every key lives in `shared`, which outlives this.
  Identities(const std::vector<AccessKey>& keys, Universe& shared);

  std::shared_ptr<const auth::User> FindUser(std::string_view access_key_id) const override;
  std::shared_ptr<api::Namespace> NamespaceOf(const auth::User* user) const override;
  api::Identity IdentityOf(std::string_view access_key_id) const override;
  const api::Identity& DefaultIdentity() const override { return default_identity_; }

 private:
  std::map<std::string, std::shared_ptr<const auth::User>, std::less<>> users_;
  api::Identity default_identity_;
  Universe& shared_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITIES_H_
