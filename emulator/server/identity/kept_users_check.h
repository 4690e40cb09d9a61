// fsck's part of users.db (kept_users.h): is the database sound, and can every account and key be
// used?
#ifndef PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_CHECK_H_
#define PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/store/checks/fsck.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

struct KeptUsersReport {
  std::string path;
  std::vector<store::FsckFinding> findings;
  std::uint64_t accounts = 0;
  std::uint64_t access_keys = 0;

  bool clean() const;  // nothing but notes
};

// nullopt: the directory keeps no users. Changes nothing; no emulator may use the directory. Never
// a secret in a finding. kInvalidArgument for a file that is not ours or of another version;
// kDataLoss when it cannot be read at all.
Result<std::optional<KeptUsersReport>> CheckKeptUsers(const std::string& directory);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_IDENTITY_KEPT_USERS_CHECK_H_
