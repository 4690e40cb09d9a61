// Users stored in the data directory: those of the admin API, and the accounts of access keys from
// the command line.
//
//   DIR/users.db       SQLite database; only its owner may read and write it: it has secrets
//   DIR/created-users  the creation of users.db was completed: if it does not exist, it was lost.
//                      Builds before this record do not write it.
//   DIR/users.reserve  space for removals on a full disk (emulator/store/commits/reserve.h)
#ifndef PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_H_
#define PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/identity/users_document.h"
#include "emulator/store/commits/reserve.h"
#include "emulator/store/commits/watched_files.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"

namespace penstock::emulator::identity {

inline constexpr std::string_view kUserDatabaseFile = "users.db";
inline constexpr std::string_view kUserDatabaseRecord = "created-users";
// 2: pages have checksums; 3: new databases have a store id (page_checksums.h); 4: users, groups,
// roles and policies, and sessions of STS; 5: when a session was issued
inline constexpr int kUserDatabaseVersion = 5;

// The account whose root is an access key from the command line.
struct RootAccount {
  std::string access_key_id;  // empty: no longer known
  s3::Owner account;
};

// Why a missing or empty users.db is a loss. nullopt: its creation is not recorded.
std::optional<std::string> MissingUsersProblem(const std::string& directory);
// Accepts the loss of committed changes (commit_check.h), or of all users.
Result<void> AcceptUsersLoss(const std::string& directory);

// The state of a namespace according to the data directory.
enum class NamespaceState {
  kStored,
  // The deletion is recorded. Keys may remain if the process ended during the deletion.
  kDeleted,
  kMissing,  // there is no directory with a store, for example because a disk is not mounted
};

// Every change is one transaction, so that it is atomic on a crash. Changes fail with kDataLoss
// after users.db was removed, moved or replaced. Thread safety: one thread at a time.
class UserDatabase {
 public:
  // The directory must exist and be locked (data_directory.h). Returns kDataLoss for a damaged
  // or lost file, and kInvalidArgument for a newer version or a foreign file; the message names the
  // file.
  static Result<std::unique_ptr<UserDatabase>> Open(const std::string& directory,
                                                    store::Durability durability);

  // Returns accounts, keys and sessions with their secrets, and the access of accounts. Every key
  // has its namespace.
  Result<UsersDocument> Read();
  // Inserts or replaces everything in `users`, or nothing: kUnavailable after `stop` was set.
  Result<void> Put(const UsersDocument& users, StopFlag stop = nullptr);
  // Removes keys or sessions with these ids, and accounts. Also works on a full disk, as far as the
  // reserve suffices.
  Result<void> Remove(const std::vector<std::string>& access_key_ids,
                      const std::vector<std::string>& account_ids);

  // In the order of SetRoots. nullopt: SetRoots was never called; the buckets may come from a
  // version without this file.
  Result<std::optional<std::vector<RootAccount>>> ReadRoots();
  Result<void> SetRoots(const std::vector<RootAccount>& roots);

 private:
  UserDatabase(const std::string& reserve_path, std::unique_ptr<store::Connection> connection);
  // kDataLoss: users.db or its log was removed, so that a change is lost.
  Result<void> CheckFiles() const;
  Result<void> ReadAccess(UsersDocument& users);
  Result<void> ReadSessions(UsersDocument& users);
  template <class Change>
  Result<void> InTransaction(Change change);

  store::Reserve reserve_;
  const store::WatchedFiles files_;
  const std::unique_ptr<store::Connection> connection_;
};

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_H_
