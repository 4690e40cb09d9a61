// Creates a database file in one step: a process that is killed leaves the complete file or no file
// of that name.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Creates `path` with page checksums from `schema`: SQL statements without BEGIN and COMMIT, with
// PRAGMA user_version. Does nothing when the file has bytes. The database is built in PATH.new,
// fsynced and renamed. The new name is durable when the commit mark of the first commit is
// (commit_mark.h). No process may have `path` open. kResourceExhausted when the disk is full.
Result<void> CreateDatabaseFile(const std::string& path, const std::string& schema);

// Whether the store in `directory` was never completed, because the process that created it ended
// early. Such a store has accepted no request. True for an empty directory and for one that does
// not exist.
bool IsUnfinishedStore(const std::string& directory);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_DATABASE_CREATION_H_
