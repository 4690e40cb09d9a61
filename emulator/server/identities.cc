#include "emulator/server/identities.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "emulator/server/json_fields.h"

namespace penstock::emulator::server {
namespace {

Error NoSuchKey(std::string_view access_key_id) {
  return Error::Make(ErrorKind::kNotFound, "there is no access key '" + std::string(access_key_id) + "'; list the users");
}

// Makes the key the root of an account of its own.
void AddRoot(UsersDocument& users, const AccessKey& pair, api::Identity root, std::string name_space) {
  root.access_key_id = pair.id;
  users.accounts.push_back({root.owner_id, root.display_name, root.account_id});
  KeyRecord key;
  key.user.access_key_id = pair.id;
  key.user.secret_access_key = pair.secret;
  key.user.identity = std::move(root);
  key.name_space = std::move(name_space);
  users.keys.push_back(std::move(key));
}

}  // namespace

UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs) {
  UsersDocument users;
  for (const AccessKey& pair : pairs) AddRoot(users, pair, MakeIdentity(pair.id), std::string(kDefaultNamespace));
  return users;
}

api::Identity IdentityOfNamespace(const std::string& name) {
  api::Identity identity = MakeIdentity("namespace " + name);
  identity.display_name = name;
  return identity;
}

UsersDocument UsersOfNamespace(const std::string& name, const AccessKey& pair) {
  UsersDocument users;
  AddRoot(users, pair, IdentityOfNamespace(name), name);
  return users;
}

void Identities::Attach(std::shared_ptr<Universe> shared, Spaces spaces, api::Identity default_identity) {
  shared_ = std::move(shared);
  spaces_ = std::move(spaces);
  default_identity_ = std::move(default_identity);
}

Result<void> Identities::CheckCanonicalIds(const Tables& tables) {
  std::set<std::string_view> seen;
  for (const auto& [id, account] : tables.accounts) {
    if (seen.insert(account.id).second) continue;
    return Error::Make(ErrorKind::kAlreadyExists,
                       "account '" + id + "' has the canonical id of another account; give it one of its own");
  }
  return Ok();
}

Result<void> Identities::CheckStays(const Tables& tables, const KeyRecord& key) {
  const auto known = tables.keys.find(key.user.access_key_id);
  if (known == tables.keys.end() || !key.name_space || *key.name_space == known->second->name_space) return Ok();
  return FieldError(ErrorKind::kAlreadyExists, key.place,
                    "access key '" + key.user.access_key_id + "' selects namespace '" + known->second->name_space + "', not '" +
                        *key.name_space + "'; leave the field out to keep it there, or move it on purpose with PATCH " +
                        "/_penstock/access-keys/" + key.user.access_key_id);
}

Result<std::shared_ptr<Universe>> Identities::SpaceOf(const KeyRecord& key, const std::string& name_space) const {
  auto found = spaces_.find(name_space);
  if (found.ok() || found.error().kind != ErrorKind::kNotFound) return found;
  return FieldError(ErrorKind::kNotFound, key.place,
                    found.error().message + ", or list it in \"namespaces\": [\"" + name_space + "\"] beside the accounts");
}

Result<void> Identities::Add(UsersDocument users) {
  const MutexLock one_at_a_time(change_mutex_);
  Tables tables = [this] {
    const std::shared_lock lock(mutex_);
    return tables_;
  }();
  for (api::Owner& account : users.accounts) tables.accounts.insert_or_assign(account.account_id, std::move(account));
  PENSTOCK_TRY(CheckCanonicalIds(tables));
  for (const KeyRecord& key : users.keys) PENSTOCK_TRY(CheckStays(tables, key));
  const std::set<std::string, std::less<>> listed(users.namespaces.begin(), users.namespaces.end());
  // Whether all are there, before any is made.
  for (const KeyRecord& key : users.keys) {
    if (key.name_space && !listed.contains(*key.name_space)) PENSTOCK_TRY(SpaceOf(key, *key.name_space));
  }
  for (const std::string& name : listed) PENSTOCK_TRY(spaces_.find_or_create(name));
  for (KeyRecord& key : users.keys) {
    const auto known = tables.keys.find(key.user.access_key_id);
    auto entry = std::make_shared<Entry>();
    entry->name_space = known != tables.keys.end() ? known->second->name_space : key.name_space.value_or(std::string(kDefaultNamespace));
    PENSTOCK_ASSIGN(entry->universe, SpaceOf(key, entry->name_space));
    static_cast<auth::User&>(*entry) = std::move(key.user);
    std::string id = entry->access_key_id;
    tables.keys.insert_or_assign(std::move(id), std::move(entry));
  }
  // Keys that were there before show their account as it is now.
  for (auto& [id, entry] : tables.keys) {
    const auto account = tables.accounts.find(entry->identity.account_id);
    if (account == tables.accounts.end()) continue;
    if (entry->identity.owner_id == account->second.id && entry->identity.display_name == account->second.display_name) continue;
    auto changed = std::make_shared<Entry>(*entry);
    changed->identity.owner_id = account->second.id;
    changed->identity.display_name = account->second.display_name;
    entry = std::move(changed);
  }
  const std::unique_lock lock(mutex_);
  std::swap(tables_, tables);
  return Ok();
}

Result<void> Identities::Change(std::string_view access_key_id, const AccessKeyChange& change) {
  const MutexLock one_at_a_time(change_mutex_);
  const auto user = std::static_pointer_cast<const Entry>(FindUser(access_key_id));
  if (!user) return NoSuchKey(access_key_id);
  auto changed = std::make_shared<Entry>(*user);
  if (change.active) changed->active = *change.active;
  if (change.expires && changed->session_token.empty()) {
    return Error::Make(ErrorKind::kInvalidArgument, "access key '" + user->access_key_id +
                                                        "' has no session token and does not expire; make it inactive instead");
  }
  if (change.expires) changed->expires = change.expires;
  if (change.name_space) {
    PENSTOCK_ASSIGN(changed->universe, spaces_.find(*change.name_space));
    changed->name_space = *change.name_space;
  }
  const std::unique_lock lock(mutex_);
  tables_.keys.insert_or_assign(std::string(access_key_id), std::move(changed));
  return Ok();
}

Result<void> Identities::Remove(std::string_view access_key_id) {
  const MutexLock one_at_a_time(change_mutex_);
  const std::unique_lock lock(mutex_);
  const auto found = tables_.keys.find(access_key_id);
  if (found == tables_.keys.end()) return NoSuchKey(access_key_id);
  tables_.keys.erase(found);
  return Ok();
}

void Identities::RemoveNamespace(const Universe& universe) {
  const MutexLock one_at_a_time(change_mutex_);
  const std::unique_lock lock(mutex_);
  std::erase_if(tables_.keys, [this, &universe](const auto& key) {
    const Entry& entry = *key.second;
    if (entry.universe.get() != &universe) return false;
    // The account that was made for this key alone goes with it; one that somebody described stays.
    const bool made = entry.identity.owner_id == MakeIdentity(entry.access_key_id).owner_id ||
                      entry.identity.owner_id == IdentityOfNamespace(entry.name_space).owner_id;
    if (made) tables_.accounts.erase(entry.identity.account_id);
    return true;
  });
}

UsersDocument Identities::List() const {
  const std::shared_lock lock(mutex_);
  UsersDocument users;
  for (const auto& [id, account] : tables_.accounts) users.accounts.push_back(account);
  for (const auto& [id, entry] : tables_.keys) {
    KeyRecord key;
    key.user.access_key_id = entry->access_key_id;
    key.user.expires = entry->expires;
    key.user.active = entry->active;
    key.user.identity = entry->identity;
    key.name_space = entry->name_space;
    users.keys.push_back(std::move(key));
  }
  return users;
}

std::optional<api::Identity> Identities::OwnerOf(std::string_view name_space) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [id, entry] : tables_.keys) {
    if (entry->name_space == name_space) return entry->identity;
  }
  return std::nullopt;
}

std::shared_ptr<const auth::User> Identities::FindUser(std::string_view access_key_id) const {
  const std::shared_lock lock(mutex_);
  const auto found = tables_.keys.find(access_key_id);
  if (found == tables_.keys.end()) return nullptr;
  return found->second;
}

std::shared_ptr<api::Namespace> Identities::NamespaceOf(const auth::User* user) const {
  // Every user came from FindUser and is an Entry.
  return (user == nullptr ? *shared_ : *static_cast<const Entry*>(user)->universe).Current();
}

std::optional<api::Owner> Identities::FindOwner(std::string_view canonical_id) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [id, account] : tables_.accounts) {
    if (account.id == canonical_id) return account;
  }
  return std::nullopt;
}

}  // namespace penstock::emulator::server
