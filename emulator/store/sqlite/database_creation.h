// Creates a database file in one step: if the process is killed, the file is complete or
// does not exist.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Creates `path` with a store id and page checksums (page_checksums.h) from `schema`: SQL
// statements without BEGIN and COMMIT, including PRAGMA user_version. Does nothing if the file is
// not empty. The database is built in PATH.new, synced and renamed. The new name is durable once
// the commit mark of the first commit is durable (commit_mark.h). No process may have `path` open.
// kResourceExhausted if the disk is full.
Result<void> CreateDatabaseFile(const std::string& path, const std::string& schema);

enum class StoreState {
  // The process that created it ended early; it has accepted no request. Also an empty or missing
  // directory, which may be one that lost its files: DataDirectory knows whether its store was
  // complete.
  kUnfinished,
  kHasDatabase,   // with tables
  kLostDatabase,  // it has other files of a complete store
};
StoreState StateOfStore(const std::string& directory);

inline bool IsUnfinishedStore(const std::string& directory) {
  return StateOfStore(directory) == StoreState::kUnfinished;
}

// Fails with kDataLoss if the database of a complete store is missing or empty. With a valid mark,
// CheckCommits decides.
Result<void> CheckDatabaseIsThere(const std::string& directory);
// The error: `remainder` is what the directory still contains.
Error LostDatabase(const std::string& directory, const std::string& remainder);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_
