// Checks users.db (user_database.h) for fsck: whether the database is intact and every account and
// key usable.
#ifndef PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_CHECK_H_
#define PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/identity/user_database.h"
#include "emulator/store/checks/fsck.h"
#include "penstock/base/result.h"

namespace penstock::emulator::identity {

struct UserDatabaseReport {
  std::string path;
  std::vector<store::FsckFinding> findings;
  std::uint64_t accounts = 0;
  std::uint64_t access_keys = 0;

  bool clean() const;  // only notes, no damage
};

using NamespaceStates = std::function<NamespaceState(const std::string& name)>;

// Returns nullopt if the directory has no users.db, and none was created. Changes nothing. No
// emulator may use the directory. Findings contain no secrets. Returns kInvalidArgument for a
// foreign file or another version, and kDataLoss if it cannot be read at all.
Result<std::optional<UserDatabaseReport>> CheckUserDatabase(const std::string& directory,
                                                            const NamespaceStates& state_of);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_USER_DATABASE_CHECK_H_
