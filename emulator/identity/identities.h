// Access keys and sessions of STS, their accounts and users, and the namespace that each selects.
#ifndef PENSTOCK_EMULATOR_IDENTITY_IDENTITIES_H_
#define PENSTOCK_EMULATOR_IDENTITY_IDENTITIES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/auth/auth.h"
#include "emulator/identity/user_database.h"
#include "emulator/identity/users_document.h"
#include "penstock/access_key.h"
#include "penstock/base/mutex.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::identity {

// Returns users for access key pairs in the default namespace. Each is the root of an account: its
// own, or the one in `roots`.
UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs);
UsersDocument UsersOfPairs(const std::vector<AccessKey>& pairs, std::vector<s3::Identity> roots);

// The account of a namespace created by name. It is the same in every run, so that a new key has
// access to the objects of an earlier one.
s3::Identity IdentityOfNamespace(const std::string& name);
// The key of a new namespace, which is the root of that account.
UsersDocument UsersOfNamespace(const std::string& name, const AccessKey& pair);

// A namespace that keys select. Thread safety: methods may be called from any thread.
class KeyNamespace {
 public:
  virtual ~KeyNamespace() = default;
  virtual const std::string& name() const = 0;
  // Opens the namespace if it is closed; null if that fails.
  virtual std::shared_ptr<s3::Namespace> Current() = 0;
};

// Sessions of STS at a time. One has about 1 KiB.
inline constexpr std::size_t kMaxSessions = 20'000;

// Thread safety: methods may be called from any thread. A request keeps the user it began with.
class Identities final : public auth::Directory, public s3::OwnerDirectory {
 public:
  // Finds namespaces by name.
  struct Spaces {
    using Open = std::function<Result<std::shared_ptr<KeyNamespace>>(std::string_view name)>;
    Open find;  // kNotFound
    Open find_or_create;
    std::function<NamespaceState(std::string_view name)> at_start;  // opens nothing
  };
  // Must be called first.
  void Attach(std::shared_ptr<KeyNamespace> shared, Spaces spaces, s3::Identity default_identity);

  // Adds all or none of `users`; replaces entries with the same account id or access key id, and
  // users, groups, roles, policies and token providers with the same name. Requests with known keys
  // and sessions then have the new policies.
  // Namespaces are created only if the document lists them. Returns kNotFound for other unknown
  // namespaces. Returns kAlreadyExists if two accounts would share a canonical id, or if a known
  // key names another namespace: a typing error creates and moves nothing. Also returns the errors
  // of Spaces, and kUnavailable after `stop` was set. Namespaces that the document lists may then
  // have been created.
  Result<void> Add(UsersDocument users, StopFlag stop = nullptr);
  // Adds the users in `kept`. Entries given at this start take precedence; a notice names the
  // ignored ones. Keys whose namespace was deleted are removed; those whose namespace is missing
  // stay. From now on Add and Change also write to `kept`.
  Result<std::vector<std::string>> Restore(std::unique_ptr<UserDatabase> kept);
  // Returns kNotFound for the key or the namespace, the errors of Spaces, and kInvalidArgument for
  // an expiry of a key without a session token.
  Result<void> Change(std::string_view access_key_id, const AccessKeyChange& change);
  Result<void> Remove(std::string_view access_key_id);
  // Removes the keys that select it, and accounts that were created only for them. On an error they
  // may still be stored on disk.
  Result<void> RemoveNamespace(const KeyNamespace& selected);

  // Null: the account has no users, groups, roles or policies in a users document.
  std::shared_ptr<const AccountAccess> AccessOf(std::string_view account_id) const;
  // The first role, by account and name, whose credentials the instance metadata service returns.
  std::optional<std::pair<std::string, Role>> InstanceRole() const;  // with the account id
  // True for temporary credentials: of STS, or a key with a session token.
  bool IsSession(std::string_view access_key_id) const;
  // Opens a namespace by name. The errors of Spaces.
  Result<std::shared_ptr<s3::Namespace>> OpenNamespace(std::string_view name) const;
  // Stores a session and returns it with a new key, secret and token. Removes expired sessions, as
  // of `now`, if there are kMaxSessions. Returns kThrottled if none has expired, kNotFound for an
  // unknown account, role or namespace, and the errors of the user database.
  Result<SessionRecord> AddSession(SessionRecord session, WallTime now);

  // The requester that `name` names: an access key or a session by its id, or by ARN a user, a
  // role, a session of a role or an account's root. Those of an ARN need no key. A role is a new
  // session of it, named "explain". Nullopt: unknown.
  std::optional<s3::Identity> FindPrincipal(std::string_view name) const;
  // Without secrets and tokens; sorted by account id and access key id. Without sessions.
  UsersDocument List() const;
  // Returns a user whose active key, without a session token, selects the namespace: the first, by
  // name, of a root of the account `owner_id`, else of another user of it, else of any account.
  // Null: there is none.
  std::shared_ptr<const auth::User> SigningUser(std::string_view name_space,
                                                std::string_view owner_id) const;
  // Returns the identity of the first key, by name, that selects the namespace.
  std::optional<s3::Identity> OwnerOf(std::string_view name_space) const;

  // Opens the key's namespace if it has not been opened since the start. If the namespace is
  // missing, NamespaceOf the user is null.
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
    std::shared_ptr<KeyNamespace> selects;  // null: restored and not used yet
    bool kept = false;                      // stored in kept_
    // Of sessions: the role, and the session policies.
    std::string role;
    std::vector<DocumentPtr> session_policies;
  };
  using Entries = std::map<std::string, std::shared_ptr<const Entry>, std::less<>>;
  struct Tables {
    std::map<std::string, s3::Owner, std::less<>> accounts;           // by account id
    std::map<std::string, std::string, std::less<>> by_canonical_id;  // account ids
    std::map<std::string, std::shared_ptr<const AccountAccess>, std::less<>> access;
    Entries keys;
    Entries sessions;
    // Null: neither is a key or a session with that id.
    std::shared_ptr<const Entry>* Slot(std::string_view access_key_id);
  };
  // Sets by_canonical_id of `rows`. Returns kAlreadyExists if an account would have the canonical
  // id of another one.
  Result<void> IndexAccounts(Tables& rows) const;
  Result<void> CheckNamespaceUnchanged(const KeyRecord& key) const;
  // Merges `newer` with the access of known accounts. Returns the errors of CheckReferences.
  Result<void> MergeAccess(const std::vector<AccountAccess>& newer, Tables& rows) const;
  // Gives the keys and sessions of the accounts of `rows` the current ids of their account and
  // policies, and adds those that change.
  void UpdateKeysOfAccounts(Tables& rows) const;
  // The same entry with the ids and policies of these tables.
  static std::shared_ptr<const Entry> Updated(const Entry& entry, const s3::Owner& account,
                                              const AccountAccess* access);
  // Adds and replaces rows. `rows` gets those that were replaced, because they must be destroyed
  // without the lock.
  void Apply(Tables& rows);
  static KeyRecord RecordOf(const Entry& entry);
  // Writes the accounts of `rows`, these of its keys and `access` to disk.
  Result<void> Keep(const Tables& rows, const std::vector<std::string>& key_ids,
                    std::vector<AccountAccess> access, StopFlag stop)
      PENSTOCK_REQUIRES(change_mutex_);
  void RestoreAccess(Tables& tables, std::vector<AccountAccess> kept,
                     std::vector<std::string>& notices) const;
  // True if the session's role or user exists.
  static bool HasPrincipal(const Tables& tables, const SessionRecord& session);
  // Returns the ids of sessions that cannot be restored.
  std::vector<std::string> RestoreSessions(Tables& tables,
                                           std::vector<SessionRecord> sessions) const;
  static std::shared_ptr<Entry> EntryOf(const SessionRecord& session);
  // The requester that an ARN names, without its keys and sessions. Nullopt: unknown.
  static std::optional<s3::Identity> WithoutKey(const s3::Owner& account,
                                                const AccountAccess& access, std::string_view arn);
  Result<void> MakeRoomForSession(WallTime now) PENSTOCK_REQUIRES(change_mutex_);
  Result<void> RestoreKey(Tables& tables, KeyRecord key, std::vector<std::string>& notices)
      PENSTOCK_REQUIRES(change_mutex_);
  Tables Copy() const;
  // A key or a session.
  std::shared_ptr<const Entry> FindEntry(std::string_view access_key_id) const;
  std::shared_ptr<const Entry> FindKey(std::string_view access_key_id) const;
  std::shared_ptr<const Entry> OpenRestored(std::shared_ptr<const Entry> restored) const;
  Result<std::shared_ptr<KeyNamespace>> SpaceOf(const KeyRecord& key,
                                                const std::string& name_space) const;

  std::shared_ptr<KeyNamespace> shared_;
  Spaces spaces_;
  s3::Identity default_identity_;
  Mutex change_mutex_;  // one change at a time
  // Null: users are not stored on disk.
  std::unique_ptr<UserDatabase> kept_ PENSTOCK_GUARDED_BY(change_mutex_);
  mutable SharedMutex mutex_;
  // Mutable: FindUser adds the namespace of a restored key.
  mutable Tables tables_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_IDENTITIES_H_
