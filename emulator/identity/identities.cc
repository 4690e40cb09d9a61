#include "emulator/identity/identities.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::identity {
namespace {

constinit DiagnosticEvent not_found("identity.namespace_not_found");

class MissingNamespace final : public KeyNamespace {
 public:
  explicit MissingNamespace(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::shared_ptr<s3::Namespace> Current() override { return nullptr; }

 private:
  const std::string name_;
};

Error NoSuchKey(std::string_view access_key_id) {
  return Error::Make(ErrorKind::kNotFound,
                     "there is no access key '" + std::string(access_key_id) + "'; list the users");
}

// Makes the key the root of its own account.
void AddRoot(UsersDocument& users, const AccessKey& pair, s3::Identity root,
             std::string name_space) {
  root.access_key_id = pair.id;
  users.accounts.push_back({root.owner_id, root.display_name, root.account_id});
  KeyRecord key;
  key.user.access_key_id = pair.id;
  key.user.secret_access_key = pair.secret;
  key.user.identity = std::move(root);
  key.name_space = std::move(name_space);
  users.keys.push_back(std::move(key));
}

// Moves the rows of `from` to `into`, and the rows that they replace to `from`. Allocates and
// destroys nothing.
template <class Rows>
void SwapRows(Rows& into, Rows& from) {
  Rows replaced;
  while (!from.empty()) {
    auto row = into.insert(from.extract(from.begin()));
    if (row.inserted) continue;
    std::swap(row.position->second, row.node.mapped());
    replaced.insert(std::move(row.node));
  }
  from.swap(replaced);
}

}  // namespace

UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs) {
  std::vector<s3::Identity> roots;
  for (const AccessKey& pair : pairs) roots.push_back(MakeIdentity(pair.id));
  return UsersOfPairs(pairs, std::move(roots));
}

UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs, std::vector<s3::Identity> roots) {
  UsersDocument users;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    AddRoot(users, pairs[i], std::move(roots[i]), std::string(kDefaultNamespace));
  return users;
}

s3::Identity IdentityOfNamespace(const std::string& name) {
  s3::Identity identity = MakeIdentity("namespace " + name);
  identity.display_name = name;
  return identity;
}

UsersDocument UsersOfNamespace(const std::string& name, const AccessKey& pair) {
  UsersDocument users;
  AddRoot(users, pair, IdentityOfNamespace(name), name);
  return users;
}

void Identities::Attach(std::shared_ptr<KeyNamespace> shared, Spaces spaces,
                        s3::Identity default_identity) {
  shared_ = std::move(shared);
  spaces_ = std::move(spaces);
  default_identity_ = std::move(default_identity);
}

Result<void> Identities::IndexAccounts(Tables& rows) const {
  const ReaderLock lock(mutex_);
  for (const auto& [id, account] : rows.accounts) {
    const auto used = tables_.by_canonical_id.find(account.id);
    // An account that is replaced gives up its id.
    const bool is_taken = used != tables_.by_canonical_id.end() && used->second != id &&
                          !rows.accounts.contains(used->second);
    if (!is_taken && rows.by_canonical_id.emplace(account.id, id).second) continue;
    return Error::Make(
        ErrorKind::kAlreadyExists,
        "account '" + id + "' has the canonical id of another account; use a different one");
  }
  return Ok();
}

Result<void> Identities::CheckNamespaceUnchanged(const KeyRecord& key) const {
  const auto known = FindKey(key.user.access_key_id);
  if (!known || !key.name_space || *key.name_space == known->name_space) return Ok();
  return FieldError(ErrorKind::kAlreadyExists, key.place,
                    "access key '" + key.user.access_key_id + "' selects namespace '" +
                        known->name_space + "', not '" + *key.name_space +
                        "'; omit the field to keep it there, or move it with PATCH " +
                        "/_penstock/access-keys/" + key.user.access_key_id);
}

Result<std::shared_ptr<KeyNamespace>> Identities::SpaceOf(const KeyRecord& key,
                                                          const std::string& name_space) const {
  auto found = spaces_.find(name_space);
  if (found.ok() || found.error().kind != ErrorKind::kNotFound) return found;
  return FieldError(ErrorKind::kNotFound, key.place,
                    found.error().message + "; create it first, or list it in \"namespaces\": [\"" +
                        name_space + "\"] beside the accounts");
}

Result<void> Identities::Add(UsersDocument users, StopFlag stop) {
  const MutexLock one_at_a_time(change_mutex_);
  Tables rows;  // new ones and replacements
  std::vector<std::string> key_ids;
  for (const KeyRecord& key : users.keys) key_ids.push_back(key.user.access_key_id);
  for (s3::Owner& account : users.accounts) {
    std::string id = account.account_id;
    rows.accounts.insert_or_assign(std::move(id), std::move(account));
  }
  PENSTOCK_TRY(IndexAccounts(rows));
  for (const KeyRecord& key : users.keys) PENSTOCK_TRY(CheckNamespaceUnchanged(key));
  PENSTOCK_TRY(MergeAccess(users.access, rows));
  const std::set<std::string, std::less<>> listed(users.namespaces.begin(), users.namespaces.end());
  // First checks that all exist, before any is created.
  for (const KeyRecord& key : users.keys) {
    if (key.name_space && !listed.contains(*key.name_space))
      PENSTOCK_TRY(SpaceOf(key, *key.name_space));
  }
  for (const std::string& name : listed) {
    PENSTOCK_TRY(CheckNotStopped(stop));
    PENSTOCK_TRY(spaces_.find_or_create(name));
  }
  for (KeyRecord& key : users.keys) {
    PENSTOCK_TRY(CheckNotStopped(stop));
    const auto known = FindKey(key.user.access_key_id);
    auto entry = std::make_shared<Entry>();
    entry->name_space =
        known ? known->name_space : key.name_space.value_or(std::string(kDefaultNamespace));
    PENSTOCK_ASSIGN(entry->selects, SpaceOf(key, entry->name_space));
    entry->kept = kept_ != nullptr;
    static_cast<auth::User&>(*entry) = std::move(key.user);
    std::string id = entry->access_key_id;
    rows.keys.insert_or_assign(std::move(id), std::move(entry));
  }
  UpdateKeysOfAccounts(rows);
  PENSTOCK_TRY(Keep(rows, key_ids, std::move(users.access), stop));
  Apply(rows);
  return Ok();
}

Result<void> Identities::MergeAccess(const std::vector<AccountAccess>& newer, Tables& rows) const {
  for (const AccountAccess& each : newer) {
    AccountAccess merged{.account_id = each.account_id};
    if (const auto known = AccessOf(each.account_id)) merged = *known;
    merged.Merge(each);
    PENSTOCK_TRY(CheckReferences(merged));
    rows.access.insert_or_assign(each.account_id,
                                 std::make_shared<const AccountAccess>(std::move(merged)));
  }
  return Ok();
}

std::shared_ptr<const Identities::Entry> Identities::Updated(const Entry& entry,
                                                             const s3::Owner& account,
                                                             const AccountAccess* access) {
  auto changed = std::make_shared<Entry>(entry);
  s3::Identity& identity = changed->identity;
  identity.owner_id = account.id;
  identity.display_name = account.display_name;
  const auto role =
      access == nullptr ? ByName<Role>::const_iterator() : access->roles.find(entry.role);
  if (!entry.role.empty()) {
    if (access == nullptr || role == access->roles.end()) return changed;
    identity.policies = PoliciesOfRole(*access, role->second, entry.session_policies);
    identity.role_arn = RoleArn(account.account_id, role->second);
  } else if (!identity.user_name.empty()) {
    identity.policies = PoliciesOfUser(access, identity.user_name);
    if (access == nullptr) return changed;
    // A user that was added again may have another path.
    if (const auto user = access->users.find(identity.user_name); user != access->users.end()) {
      identity.arn = UserArn(account.account_id, user->second.path, identity.user_name);
      identity.user_id = UniqueId("AIDA", identity.arn);
    }
  }
  return changed;
}

void Identities::UpdateKeysOfAccounts(Tables& rows) const {
  std::map<std::string_view, std::shared_ptr<const AccountAccess>> access;
  {
    const ReaderLock lock(mutex_);
    std::set<std::string_view> changed;
    for (const auto& [id, account] : rows.accounts) {
      const auto old = tables_.accounts.find(id);
      const bool is_new = old == tables_.accounts.end();
      if (rows.access.contains(id) ||
          (!is_new &&
           (account.id != old->second.id || account.display_name != old->second.display_name)))
        changed.insert(id);
      const auto known = tables_.access.find(id);
      if (known != tables_.access.end()) access.emplace(id, known->second);
    }
    // No effect on keys that are replaced.
    for (auto row = tables_.keys.begin(); !changed.empty() && row != tables_.keys.end(); ++row) {
      if (changed.contains(row->second->identity.account_id)) rows.keys.insert(*row);
    }
    for (auto row = tables_.sessions.begin(); !changed.empty() && row != tables_.sessions.end();
         ++row) {
      if (changed.contains(row->second->identity.account_id)) rows.sessions.insert(*row);
    }
  }
  for (const auto& [id, merged] : rows.access) access.insert_or_assign(id, merged);
  for (Entries* const entries : {&rows.keys, &rows.sessions}) {
    for (auto& [id, entry] : *entries) {
      const auto account = rows.accounts.find(entry->identity.account_id);
      if (account == rows.accounts.end()) continue;
      const auto found = access.find(entry->identity.account_id);
      entry =
          Updated(*entry, account->second, found == access.end() ? nullptr : found->second.get());
    }
  }
}

void Identities::Apply(Tables& rows) {
  const WriterLock lock(mutex_);
  for (const auto& [id, account] : rows.accounts) {
    const auto old = tables_.accounts.find(id);
    if (old != tables_.accounts.end()) tables_.by_canonical_id.erase(old->second.id);
  }
  SwapRows(tables_.accounts, rows.accounts);
  SwapRows(tables_.by_canonical_id, rows.by_canonical_id);
  SwapRows(tables_.access, rows.access);
  SwapRows(tables_.keys, rows.keys);
  SwapRows(tables_.sessions, rows.sessions);
}

Identities::Tables Identities::Copy() const {
  const ReaderLock lock(mutex_);
  return tables_;
}

KeyRecord Identities::RecordOf(const Entry& entry) { return {entry, entry.name_space, {}}; }

Result<void> Identities::Keep(const Tables& rows, const std::vector<std::string>& key_ids,
                              std::vector<AccountAccess> access, StopFlag stop) {
  if (!kept_) return Ok();
  UsersDocument users;
  users.access = std::move(access);
  for (const auto& [id, account] : rows.accounts) users.accounts.push_back(account);
  for (const std::string& id : key_ids) users.keys.push_back(RecordOf(*rows.keys.at(id)));
  return kept_->Put(users, stop);
}

Result<std::vector<std::string>> Identities::Restore(std::unique_ptr<UserDatabase> kept) {
  const MutexLock one_at_a_time(change_mutex_);
  kept_ = std::move(kept);
  PENSTOCK_ASSIGN(UsersDocument users, kept_->Read());
  std::vector<std::string> notices;
  Tables tables = Copy();
  for (s3::Owner& account : users.accounts) {
    const auto given = tables.accounts.find(account.account_id);
    if (given != tables.accounts.end()) {
      if (given->second.id == account.id && given->second.display_name == account.display_name)
        continue;
      notices.push_back(
          "account '" + account.account_id +
          "': the definition given at this start overrides the one in the data directory");
      continue;
    }
    const auto [same, is_new] = tables.by_canonical_id.emplace(account.id, account.account_id);
    if (!is_new) {
      notices.push_back("account '" + account.account_id +
                        "' of the data directory is ignored with its keys: account '" +
                        same->second + "' was given with the same canonical id");
      continue;
    }
    std::string id = account.account_id;
    tables.accounts.emplace(std::move(id), std::move(account));
  }
  for (KeyRecord& key : users.keys) PENSTOCK_TRY(RestoreKey(tables, std::move(key), notices));
  RestoreAccess(tables, std::move(users.access), notices);
  if (const auto gone = RestoreSessions(tables, std::move(users.sessions)); !gone.empty())
    PENSTOCK_TRY(kept_->Remove(gone, {}));
  for (Entries* const entries : {&tables.keys, &tables.sessions}) {
    for (auto& [id, entry] : *entries) {
      const auto account = tables.accounts.find(entry->identity.account_id);
      const auto access = tables.access.find(entry->identity.account_id);
      if (account != tables.accounts.end() && access != tables.access.end())
        entry = Updated(*entry, account->second, access->second.get());
    }
  }
  const WriterLock lock(mutex_);
  std::swap(tables_, tables);
  return notices;
}

// Restores one key from the data directory, with the account ids in `tables`.
Result<void> Identities::RestoreKey(Tables& tables, KeyRecord key,
                                    std::vector<std::string>& notices) {
  const std::string id = key.user.access_key_id;
  if (const auto given = tables.keys.find(id); given != tables.keys.end()) {
    notices.push_back(
        "access key '" + id +
        "': the definition given at this start overrides the one in the data directory");
    return Ok();
  }
  const auto account = tables.accounts.find(key.user.identity.account_id);
  if (account == tables.accounts.end()) return Ok();  // its account was ignored above
  const NamespaceState state = spaces_.at_start(*key.name_space);
  if (state == NamespaceState::kDeleted) {
    notices.push_back("access key '" + id + "' was removed: its namespace '" + *key.name_space +
                      "' was deleted");
    return kept_->Remove({id}, {});
  }
  if (state == NamespaceState::kMissing) {
    notices.push_back("access key '" + id + "': the directory of its namespace '" +
                      *key.name_space +
                      "' was missing at this start; stop the emulator and restore the directory, "
                      "or delete the key");
  }
  auto entry = std::make_shared<Entry>();
  static_cast<auth::User&>(*entry) = std::move(key.user);
  entry->identity.owner_id = account->second.id;
  entry->identity.display_name = account->second.display_name;
  entry->name_space = std::move(*key.name_space);
  entry->kept = true;
  tables.keys.emplace(id, std::move(entry));
  return Ok();
}

// Entities given at this start take precedence.
void Identities::RestoreAccess(Tables& tables, std::vector<AccountAccess> kept,
                               std::vector<std::string>& notices) const {
  for (AccountAccess& access : kept) {
    if (!tables.accounts.contains(access.account_id)) continue;  // it was ignored
    const std::string id = access.account_id;
    if (const auto given = tables.access.find(id); given != tables.access.end())
      access.Merge(*given->second);
    if (const auto checked = CheckReferences(access); !checked.ok())
      notices.push_back(checked.error().message + "; it has no effect");
    tables.access.insert_or_assign(id, std::make_shared<const AccountAccess>(std::move(access)));
  }
}

std::shared_ptr<const AccountAccess> Identities::AccessOf(std::string_view account_id) const {
  const ReaderLock lock(mutex_);
  const auto found = tables_.access.find(account_id);
  return found == tables_.access.end() ? nullptr : found->second;
}

std::optional<std::pair<std::string, Role>> Identities::InstanceRole() const {
  const ReaderLock lock(mutex_);
  for (const auto& [id, access] : tables_.access) {
    for (const auto& [name, role] : access->roles) {
      if (role.instance_profile) return std::pair(id, role);
    }
  }
  return std::nullopt;
}

Result<std::shared_ptr<s3::Namespace>> Identities::OpenNamespace(std::string_view name) const {
  PENSTOCK_ASSIGN(const std::shared_ptr<KeyNamespace> found, spaces_.find(name));
  std::shared_ptr<s3::Namespace> space = found->Current();
  if (space) return space;
  return Error::Make(ErrorKind::kUnavailable,
                     "the namespace '" + std::string(name) + "' cannot be opened now");
}

Result<void> Identities::Change(std::string_view access_key_id, const AccessKeyChange& change) {
  const MutexLock one_at_a_time(change_mutex_);
  const std::shared_ptr<const Entry> user = FindKey(access_key_id);
  if (!user) return NoSuchKey(access_key_id);
  auto changed = std::make_shared<Entry>(*user);
  if (change.active) changed->active = *change.active;
  if (change.expires && changed->session_token.empty()) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "access key '" + user->access_key_id +
                           "' has no session token and does not expire; make it inactive instead");
  }
  if (change.expires) changed->expires = change.expires;
  if (change.name_space) {
    PENSTOCK_ASSIGN(changed->selects, spaces_.find(*change.name_space));
    changed->name_space = *change.name_space;
  }
  if (changed->kept) PENSTOCK_TRY(kept_->Put({.keys = {RecordOf(*changed)}}));
  const WriterLock lock(mutex_);
  tables_.keys.insert_or_assign(std::string(access_key_id), std::move(changed));
  return Ok();
}

Result<void> Identities::Remove(std::string_view access_key_id) {
  const MutexLock one_at_a_time(change_mutex_);
  if (!FindEntry(access_key_id)) return NoSuchKey(access_key_id);
  // A key given at the start may also be stored from an earlier run.
  if (kept_) PENSTOCK_TRY(kept_->Remove({std::string(access_key_id)}, {}));
  Entries removed;  // destroyed without the lock
  const WriterLock lock(mutex_);
  for (Entries* const entries : {&tables_.keys, &tables_.sessions}) {
    if (const auto found = entries->find(access_key_id); found != entries->end())
      removed.insert(entries->extract(found));
  }
  return Ok();
}

Result<void> Identities::RemoveNamespace(const KeyNamespace& selected) {
  const MutexLock one_at_a_time(change_mutex_);
  const auto is_selected = [&selected](const Entry& entry) {
    return entry.selects ? entry.selects.get() == &selected : entry.name_space == selected.name();
  };
  // Removes accounts that were created only for such keys; accounts from a users document remain.
  std::set<std::string> made;
  std::vector<std::string> ids;
  {
    const ReaderLock lock(mutex_);
    for (const auto& [id, entry] : tables_.keys) {
      if (!is_selected(*entry)) continue;
      ids.push_back(id);
      if (entry->identity.owner_id == MakeIdentity(id).owner_id ||
          entry->identity.owner_id == IdentityOfNamespace(entry->name_space).owner_id) {
        made.insert(entry->identity.account_id);
      }
    }
    for (const auto& [id, entry] : tables_.sessions) {
      if (is_selected(*entry)) ids.push_back(id);
    }
    // Keep accounts that have keys in other namespaces.
    for (const auto& [id, entry] : tables_.keys) {
      if (!is_selected(*entry)) made.erase(entry->identity.account_id);
    }
  }
  // Removed from disk first: an error leaves the tables unchanged.
  if (kept_) PENSTOCK_TRY(kept_->Remove(ids, {made.begin(), made.end()}));
  Tables removed;  // destroyed without the lock
  const WriterLock lock(mutex_);
  for (const std::string& id : ids) {
    removed.keys.insert(tables_.keys.extract(id));
    removed.sessions.insert(tables_.sessions.extract(id));
  }
  for (const std::string& id : made) {
    auto account = tables_.accounts.extract(id);
    if (!account.empty()) tables_.by_canonical_id.erase(account.mapped().id);
    removed.accounts.insert(std::move(account));
    removed.access.insert(tables_.access.extract(id));
  }
  return Ok();
}

UsersDocument Identities::List() const {
  const ReaderLock lock(mutex_);
  UsersDocument users;
  for (const auto& [id, account] : tables_.accounts) users.accounts.push_back(account);
  for (const auto& [id, access] : tables_.access) users.access.push_back(*access);
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

std::shared_ptr<const auth::User> Identities::SigningUser(std::string_view name_space,
                                                          std::string_view owner_id) const {
  const ReaderLock lock(mutex_);
  std::shared_ptr<const Entry> best;
  int best_rank = 0;
  for (const auto& [id, entry] : tables_.keys) {
    if (entry->name_space != name_space || !entry->active || !entry->session_token.empty())
      continue;
    const bool is_owner = entry->identity.owner_id == owner_id;
    const int rank = !is_owner ? 1 : entry->identity.user_name.empty() ? 3 : 2;
    if (rank > best_rank) best = entry;
    best_rank = std::max(best_rank, rank);
  }
  return best;
}

std::optional<s3::Identity> Identities::OwnerOf(std::string_view name_space) const {
  const ReaderLock lock(mutex_);
  for (const auto& [id, entry] : tables_.keys) {
    if (entry->name_space == name_space) return entry->identity;
  }
  return std::nullopt;
}

std::shared_ptr<const Identities::Entry> Identities::FindEntry(
    std::string_view access_key_id) const {
  if (auto key = FindKey(access_key_id)) return key;
  const ReaderLock lock(mutex_);
  const auto found = tables_.sessions.find(access_key_id);
  return found == tables_.sessions.end() ? nullptr : found->second;
}

std::shared_ptr<const Identities::Entry> Identities::FindKey(std::string_view access_key_id) const {
  const ReaderLock lock(mutex_);
  const auto found = tables_.keys.find(access_key_id);
  return found == tables_.keys.end() ? nullptr : found->second;
}

std::shared_ptr<const Identities::Entry>* Identities::Tables::Slot(std::string_view access_key_id) {
  for (Entries* const entries : {&keys, &sessions}) {
    if (const auto found = entries->find(access_key_id); found != entries->end())
      return &found->second;
  }
  return nullptr;
}

std::shared_ptr<const auth::User> Identities::FindUser(std::string_view access_key_id) const {
  std::shared_ptr<const Entry> entry = FindEntry(access_key_id);
  while (entry && !entry->selects) entry = OpenRestored(std::move(entry));
  return entry;
}

// Returns the entry with its namespace; null if the key was removed. If the key was changed
// meanwhile, returns its current entry: the namespace that was found may be a new one with the same
// name.
std::shared_ptr<const Identities::Entry> Identities::OpenRestored(
    std::shared_ptr<const Entry> restored) const {
  auto found_namespace = spaces_.find(restored->name_space);
  auto opened = std::make_shared<Entry>(*restored);
  if (!found_namespace.ok()) {
    // A deletion removes the keys before the namespace.
    if (FindEntry(restored->access_key_id) != restored) return nullptr;
    not_found.Report(found_namespace.error());
    opened->selects = std::make_shared<MissingNamespace>(restored->name_space);
    return opened;
  }
  opened->selects = std::move(found_namespace).value();
  const WriterLock lock(mutex_);
  std::shared_ptr<const Entry>* const slot = tables_.Slot(restored->access_key_id);
  if (slot == nullptr) return nullptr;
  if (*slot == restored) *slot = std::move(opened);
  return *slot;
}

std::shared_ptr<s3::Namespace> Identities::NamespaceOf(const auth::User* user) const {
  // Every user comes from FindUser and is an Entry.
  return (user == nullptr ? *shared_ : *static_cast<const Entry*>(user)->selects).Current();
}

std::optional<s3::Owner> Identities::FindOwner(std::string_view canonical_id) const {
  const ReaderLock lock(mutex_);
  const auto account_id = tables_.by_canonical_id.find(canonical_id);
  if (account_id == tables_.by_canonical_id.end()) return std::nullopt;
  return tables_.accounts.at(account_id->second);
}

}  // namespace penstock::emulator::identity
