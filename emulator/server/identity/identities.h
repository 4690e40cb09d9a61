// Who may ask: access keys, the accounts and users they stand for, and the namespace each of them
// selects.
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITY_IDENTITIES_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITY_IDENTITIES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/auth/auth.h"
#include "emulator/server/identity/kept_users.h"
#include "emulator/server/identity/users_document.h"
#include "emulator/server/namespaces/namespace_store.h"
#include "penstock/base/mutex.h"
#include "penstock/base/shared_mutex.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// The users of access key pairs in the default namespace: each the root of an account, its own
// unless `roots` says whose.
UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs);
UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs, std::vector<s3::Identity> roots);

// The account of a namespace made by name, the same on every run, so that a new key finds what an
// earlier one made.
s3::Identity IdentityOfNamespace(const std::string& name);
// The key of a new namespace: the root of that account.
UsersDocument UsersOfNamespace(const std::string& name, const AccessKey& pair);

// Thread safety: safe from any thread. A request keeps the user it began with.
class Identities final : public auth::Directory, public s3::OwnerDirectory {
 public:
  // Where the universe of a name comes from.
  struct Spaces {
    using Open = std::function<Result<std::shared_ptr<NamespaceStore>>(std::string_view name)>;
    Open find;  // kNotFound
    Open find_or_create;
    std::function<bool(std::string_view name)> has;  // opens nothing
  };
  // Before the first key is added and before anything is asked.
  void Attach(std::shared_ptr<NamespaceStore> shared, Spaces spaces, s3::Identity default_identity);

  // Adds all of them or none; replaces what has the same account id or access key id. Namespaces
  // are made only where the document lists them. kNotFound for another that is not there;
  // kAlreadyExists when two accounts would share a canonical id, or when a known key names another
  // namespace than its own: a mistyped name makes and moves nothing. Spaces' errors.
  Result<void> Add(UsersDocument users);
  // Adds what `kept` has, but for what is there already: what an emulator was started with wins,
  // and a notice names what lost. Keys whose namespace is gone are forgotten. From now on Add keeps
  // there what it adds, and changes to it are kept too.
  Result<std::vector<std::string>> Restore(std::unique_ptr<KeptUsers> kept);
  // kNotFound, of the key or the namespace; Spaces' errors; kInvalidArgument for an expiry of a key
  // without a session token.
  Result<void> Change(std::string_view access_key_id, const AccessKeyChange& change);
  Result<void> Remove(std::string_view access_key_id);
  // Removes the keys that select it, and accounts that were made for one of them alone. An error:
  // they may be kept still.
  Result<void> RemoveNamespace(const NamespaceStore& universe);

  // Without secrets and tokens; by account id, by access key id.
  UsersDocument List() const;
  // The first key, by name, that selects a namespace.
  std::optional<s3::Identity> OwnerOf(std::string_view name_space) const;

  // Opens the key's namespace where this start has not yet; null also where that fails.
  std::shared_ptr<const auth::User> FindUser(std::string_view access_key_id) const override;
  std::shared_ptr<s3::Namespace> NamespaceOf(const auth::User* user) const override;
  s3::Identity IdentityOf(std::string_view access_key_id) const override {
    return MakeIdentity(access_key_id);
  }
  const s3::Identity& DefaultIdentity() const override { return default_identity_; }
  std::optional<s3::Owner> FindOwner(std::string_view canonical_id) const override;

 private:
  struct Entry final : auth::User {
    std::string name_space;
    std::shared_ptr<NamespaceStore> universe;  // null: restored, and not asked for yet
    bool kept = false;                         // by kept_
  };
  struct Tables {
    std::map<std::string, s3::Owner, std::less<>> accounts;  // by account id
    std::map<std::string, std::shared_ptr<const Entry>, std::less<>> keys;
  };
  static Result<void> CheckCanonicalIds(const Tables& tables);
  static Result<void> CheckStays(const Tables& tables, const KeyRecord& key);
  static KeyRecord RecordOf(const Entry& entry);
  Result<void> Keep(const Tables& tables, const std::vector<std::string>& account_ids,
                    const std::vector<std::string>& key_ids) PENSTOCK_REQUIRES(change_mutex_);
  Result<void> RestoreKey(Tables& tables, KeyRecord key, std::vector<std::string>& notices)
      PENSTOCK_REQUIRES(change_mutex_);
  Tables Copy() const;
  std::shared_ptr<const Entry> FindEntry(std::string_view access_key_id) const;
  std::shared_ptr<const Entry> Settle(std::shared_ptr<const Entry> restored) const;
  Result<std::shared_ptr<NamespaceStore>> SpaceOf(const KeyRecord& key,
                                                  const std::string& name_space) const;

  std::shared_ptr<NamespaceStore> shared_;
  Spaces spaces_;
  s3::Identity default_identity_;
  Mutex change_mutex_;  // one change at a time
  // null: nothing outlives the process
  std::unique_ptr<KeptUsers> kept_ PENSTOCK_GUARDED_BY(change_mutex_);
  mutable SharedMutex mutex_;
  // mutable: FindUser adds the namespace of a restored key
  mutable Tables tables_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITY_IDENTITIES_H_
