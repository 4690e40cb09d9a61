// Upgrades a database of an older version to the version of this build. The migrations are defined
// in schema.cc.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_

#include <cstdint>
#include <span>
#include <string>

#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

// Upgrades a database from `version` - 1 to `version`. Must not change once released.
struct Migration {
  std::int64_t version;
  const char* sql;  // statements, without BEGIN and COMMIT
};

// The version in PRAGMA user_version; 0: never set.
Result<std::int64_t> SchemaVersionOf(Connection& connection);

// The errors of a database file that this build does not open. `supported`: the version that this
// build writes.
Error WrongSchemaVersion(const std::string& path, std::int64_t version, std::int64_t supported);
// If the number of reserved bytes in the header is damaged, the pages cannot be verified.
Error MissingPageChecksums(const std::string& path);
Error ForeignDatabase(const std::string& path);

// Runs the migrations that are newer than the database, in order. Each runs in one transaction with
// its version number, so a crash leaves the version before or after a migration. Versions in
// `steps` must ascend by one.
Result<void> Migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_MIGRATIONS_H_
