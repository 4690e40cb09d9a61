// The tables, and how a connection to them is set up.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_SCHEMA_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <string>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"

namespace penstock::emulator::store {

inline constexpr std::int64_t kSchemaVersion = 4;  // in PRAGMA user_version

// Opens the database that only this process uses: creates the tables of a new one and brings an
// older one to this build's version. Reads no more than its head, whatever it holds: damage
// elsewhere shows when it is read, and fsck looks for it. kDataLoss when it is no database or lost
// committed changes (commit_check.h), kInvalidArgument when a newer build wrote it. `path`
// ":memory:" is a new one in RAM.
Result<std::unique_ptr<Connection>> OpenDatabase(const std::string& path, Durability durability);
// Further connections to a database that OpenDatabase prepared: one that refuses to write, and one
// for checkpoints alone.
Result<std::unique_ptr<Connection>> OpenReader(const std::string& path);
Result<std::unique_ptr<Connection>> OpenCheckpointer(const std::string& path);
// A connection that changes nothing, to a database that nobody else uses. kInvalidArgument when it
// is of another build's version, kDataLoss when it has none.
Result<std::unique_ptr<Connection>> OpenForInspection(const std::string& path);

// A number that no earlier run of this store used and no later one will: 2^40 consecutive ones
// belong to the caller.
Result<std::int64_t> ReserveNumbers(Connection& connection);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_SCHEMA_H_
