// The users that outlive the process: those of the admin API, and whose accounts the keys of the
// command line stood for.
//
//   DIR/users.db       SQLite, readable and writable by its owner alone: it holds secrets
//   DIR/users.reserve  room for removals on a full disk (emulator/store/reserve.h)
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/server/identity/users_document.h"
#include "emulator/store/reserve.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"

namespace penstock::emulator::server {

inline constexpr std::string_view kKeptUsersFile = "users.db";
inline constexpr int kKeptUsersVersion = 2;  // 2: pages have checksums

// The account that an access key of the command line is the root of.
struct RootAccount {
  std::string access_key_id;  // empty: not known any more
  s3::Owner account;
};

// Every change is one transaction: after a crash it is there or not. Thread safety: one thread at a
// time.
class KeptUsers {
 public:
  // The directory is there and locked (data_directory.h). kDataLoss, kInvalidArgument for a file of
  // a newer version or not ours; the message names the file.
  static Result<std::unique_ptr<KeptUsers>> Open(const std::string& directory,
                                                 store::Durability durability);

  // Accounts and keys with their secrets; every key names its namespace.
  Result<UsersDocument> Read();
  // Inserts or replaces.
  Result<void> Put(const UsersDocument& users);
  // Also on a full disk, as far as the reserve suffices.
  Result<void> Remove(const std::vector<std::string>& access_key_ids,
                      const std::vector<std::string>& account_ids);

  // In the order of SetRoots. nullopt: it was never called, the directory's buckets may be of a
  // version that had no such file.
  Result<std::optional<std::vector<RootAccount>>> ReadRoots();
  Result<void> SetRoots(const std::vector<RootAccount>& roots);

 private:
  KeptUsers(const std::string& reserve_path, std::unique_ptr<store::Connection> connection);
  template <class Change>
  Result<void> InTransaction(Change change);

  store::Reserve reserve_;
  const std::unique_ptr<store::Connection> connection_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_H_
