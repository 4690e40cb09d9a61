// The tables of the store and the setup of connections to them.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_SCHEMA_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <string>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::store {

inline constexpr std::int64_t kSchemaVersion = 6;  // in PRAGMA user_version

// Opens the database for exclusive use by this process. Creates the tables of a new database and
// upgrades an older one to this build's version. Reads only the header: damage elsewhere is
// detected when it is read, or by fsck. kDataLoss if the file is not a database or lost committed
// changes (commit_check.h); kInvalidArgument if a newer build wrote it. The path
// ":memory:" creates a database in memory.
Result<std::unique_ptr<Connection>> OpenDatabase(const std::string& path, Durability durability);
// Upgrades the database file of a closed store, which exists, as OpenDatabase does. No effect on
// one that has this build's version or a newer one. Returns the errors of OpenDatabase.
Result<void> UpgradeDatabase(const std::string& path);
// Opens further connections to a database that OpenDatabase prepared: a read-only one, and one
// for checkpoints only.
Result<std::unique_ptr<Connection>> OpenReader(const std::string& path);
Result<std::unique_ptr<Connection>> OpenCheckpointer(const std::string& path);
// Opens a connection that changes nothing, to a database that no other process has open.
// kInvalidArgument if it has another version than this build; kDataLoss if it has no version.
Result<std::unique_ptr<Connection>> OpenForInspection(const std::string& path);

// Returns the first of 2^40 consecutive numbers that no other run of this store uses.
Result<std::int64_t> ReserveNumbers(Connection& connection);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_SCHEMA_H_
